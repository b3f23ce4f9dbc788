import { describe, expect, it } from 'vitest';
import { EchoGate, EchoDetector } from '../../../../server/session/input/echo/echo-guard.ts';
import type { Played } from '../../../../server/session/input/echo/sent-levels.ts';
import type { VadWindow } from '../../../../server/session/input/utterance.ts';

const rate = 16_000;
const windowSamples = 512;
const windowMs = 32;

/** Eight tones whose levels change every 90 ms: as much like speech as a comparison of levels needs. */
function babble(ms: number, seed: number, sampleRate = rate): Float32Array {
  let state = seed;
  const random = (): number => (state = (state * 16_807) % 2_147_483_647) / 2_147_483_647;
  const hertz = [220, 400, 620, 900, 1_300, 1_900, 2_700, 4_000];
  const samples = new Float32Array((ms * sampleRate) / 1000);
  let levels: number[] = [];
  for (let index = 0; index < samples.length; index += 1) {
    if (index % ((90 * sampleRate) / 1000) === 0) levels = hertz.map(() => 0.1 * 10 ** (-2 * random()));
    for (const [band, tone] of hertz.entries()) {
      samples[index] =
        (samples[index] as number) + (levels[band] as number) * Math.sin((2 * Math.PI * tone * index) / sampleRate);
    }
  }
  return samples;
}

/** A reply of which everything up to `heardMs` has been heard. */
function reply(sound: Float32Array, sampleRate = rate): Played & { heardMs: number } {
  return {
    heardMs: 0,
    soundAt(fromMs, ms) {
      const [from, count] = [Math.round((fromMs * sampleRate) / 1000), Math.round((ms * sampleRate) / 1000)];
      const isKnown = from >= 0 && from + count <= sound.length;
      return isKnown ? { samples: sound.slice(from, from + count), sampleRate } : undefined;
    },
  };
}

/** The audio as it reaches the microphone: delayed and attenuated. */
function echoOf(sound: Float32Array, delayMs: number, gain: number): Float32Array {
  const echo = new Float32Array(sound.length);
  const delay = (delayMs * rate) / 1000;
  for (let index = delay; index < echo.length; index += 1) echo[index] = gain * (sound[index - delay] as number);
  return echo;
}

/** For each microphone window, whether it is explained as echo of the reply played meanwhile. */
function explained(guard: EchoDetector, played: Played & { heardMs: number }, microphone: Float32Array): boolean[] {
  const all: boolean[] = [];
  for (let start = 0; start + windowSamples <= microphone.length; start += windowSamples) {
    const atMs = start / 16 + windowMs;
    played.heardMs = atMs;
    guard.follow(played, atMs);
    all.push(guard.explains(microphone.subarray(start, start + windowSamples), atMs));
  }
  return all;
}

const share = (windows: readonly boolean[]): number => windows.filter(Boolean).length / windows.length;

describe('EchoDetector', () => {
  it('detects an echo of any delay and level within a second and keeps recognizing it', () => {
    for (const [delayMs, gain] of [
      [0, 0.5],
      [130, 0.05],
      [610, 0.2],
    ] as const) {
      const sound = babble(4_000, 5);
      const windows = explained(new EchoDetector(), reply(sound), echoOf(sound, delayMs, gain));
      expect(share(windows.slice(Math.ceil((delayMs + 1_000) / windowMs)))).toBeGreaterThan(0.95);
    }
  });

  it('detects the echo of a voice at another sample rate than the microphone’s', () => {
    for (const sampleRate of [8_000, 24_000, 48_000]) {
      const played = reply(babble(4_000, 5, sampleRate), sampleRate);
      const windows = explained(new EchoDetector(), played, echoOf(babble(4_000, 5), 130, 0.2));
      expect(share(windows.slice(Math.ceil(1_130 / windowMs)))).toBeGreaterThan(0.9);
    }
  });

  it('does not take another voice for an echo', () => {
    const guard = new EchoDetector();
    const windows = explained(guard, reply(babble(4_000, 5)), babble(4_000, 77));
    expect(share(windows)).toBe(0);
    expect(guard.echoes).toBe(false);
  });

  it('hears a user who speaks louder than the echo', () => {
    const sound = babble(6_000, 5);
    const microphone = echoOf(sound, 100, 0.1);
    const user = babble(2_000, 77);
    for (const [index, value] of user.entries()) {
      const at = 3 * rate + index;
      microphone[at] = (microphone[at] as number) + value;
    }
    const windows = explained(new EchoDetector(), reply(sound), microphone);
    expect(share(windows.slice(96, 155))).toBeLessThan(0.2);
    expect(share(windows.slice(164))).toBeGreaterThan(0.9);
  });
});

describe('EchoGate', () => {
  /** Every window voiced, with a start of speech in the third, as a VAD tells it. */
  function sift(microphone: Float32Array, played: (Played & { heardMs: number }) | undefined) {
    const gate = new EchoGate();
    const edges: string[] = [];
    let found = 0;
    for (let start = 0; start + windowSamples <= microphone.length; start += windowSamples) {
      const atMs = start / 16;
      if (played !== undefined) played.heardMs = atMs + windowMs;
      const samples = microphone.subarray(start, start + windowSamples);
      const window: VadWindow = {
        type: 'heard',
        frame: { samples, sampleRate: rate, atMs, voiced: true },
        voiced: true,
        arrivedMs: atMs + windowMs,
        edge: start === 2 * windowSamples ? { type: 'speech-start', atMs: 0 } : undefined,
        failure: undefined,
      };
      const sifted = gate.sift(window, played);
      if (sifted.found) found += 1;
      if (sifted.heard.edge !== undefined) edges.push(sifted.heard.edge.type);
    }
    return { edges, found };
  }

  it('passes everything through while nothing is played', () => {
    expect(sift(babble(2_000, 3), undefined)).toEqual({ edges: ['speech-start'], found: 0 });
  });

  it('ends a speech segment that turns out to be an echo', () => {
    const sound = babble(4_000, 5);
    expect(sift(echoOf(sound, 50, 0.2), reply(sound))).toEqual({ edges: ['speech-start', 'speech-end'], found: 1 });
  });

  it('starts a new speech segment when the user speaks over a known echo', () => {
    const sound = babble(5_000, 5);
    const microphone = echoOf(sound, 50, 0.05);
    for (const [index, value] of babble(1_000, 77).entries()) {
      const at = 3 * rate + index;
      microphone[at] = (microphone[at] as number) + value;
    }
    const { edges } = sift(microphone, reply(sound));
    expect(edges).toEqual(['speech-start', 'speech-end', 'speech-start', 'speech-end']);
  });
});
