import { describe, expect, it } from 'vitest';
import { readAudioFile } from '../../../voices/dsp/audio-file.ts';
import type { AudioFrame } from '../../../voices/audio.ts';
import { endpointingTimeoutMs } from '../../../voices/turn-detector.ts';
import { prosodyCues } from '../../../voices/turn-detectors/prosody-cues.ts';
import { openProsody } from '../../../voices/turn-detectors/prosody.ts';
import { sharedAvailable, sharedPath } from '../../shared.ts';

const { signal } = new AbortController();
const detector = openProsody();

interface Syllable {
  readonly ms: number;
  readonly hertz: number;
  readonly toHertz?: number;
  readonly level?: number;
}

/** A voice speaking syllables, each swelling and fading, then half a second of silence. */
function speech(syllables: readonly Syllable[], sampleRate = 16_000): AudioFrame {
  let phase = 0;
  const samples = syllables.flatMap(({ ms, hertz, toHertz = hertz, level = 0.2 }) => {
    const length = (ms / 1000) * sampleRate;
    return Array.from({ length }, (_, index) => {
      phase += (hertz + ((toHertz - hertz) * index) / length) / sampleRate;
      const swell = 0.1 + 0.9 * Math.sin((Math.PI * index) / length);
      return level * swell * (Math.sin(2 * Math.PI * phase) + 0.5 * Math.sin(4 * Math.PI * phase));
    });
  });
  return { samples: Float32Array.from([...samples, ...Array<number>(sampleRate / 2).fill(0)]), sampleRate, atMs: 0 };
}

const even = (count: number, hertz = 180): Syllable[] => Array.from({ length: count }, () => ({ ms: 180, hertz }));
const falling: Syllable[] = [...even(8), { ms: 180, hertz: 150 }, { ms: 320, hertz: 130, toHertz: 90, level: 0.1 }];
const held: Syllable[] = [...even(8), { ms: 180, hertz: 200 }, { ms: 140, hertz: 210 }];

describe('prosodic cues', () => {
  it('a final fall, lengthening and fading are measured', () => {
    const [down, up] = [prosodyCues(speech(falling)), prosodyCues(speech(held))];
    if (down === undefined || up === undefined) throw new Error('there is speech in both');
    expect(down.height).toBeLessThan(up.height);
    expect(down.fall).toBeGreaterThan(0.5);
    expect(up.fall).toBeLessThan(0.2);
    expect(down.lengthening).toBeGreaterThan(up.lengthening);
    expect(down.fade).toBeGreaterThan(up.fade);
    expect([down.rise, up.rise]).toEqual([0, 0]);
  });

  it('the final rise of a question is measured', () => {
    expect(prosodyCues(speech([...even(8), { ms: 300, hertz: 170, toHertz: 260 }]))).toMatchObject({
      rise: 1,
      fall: 0,
    });
  });

  it('prosodic cues are the same at another sample rate, loudness, and after a longer silence', () => {
    const reference = prosodyCues(speech(falling));
    const { samples } = speech(falling);
    const variants = [
      speech(falling, 24_000),
      { samples: samples.map((value) => value / 20), sampleRate: 16_000, atMs: 0 },
      { samples: Float32Array.from([...samples, ...Array<number>(8_000).fill(0)]), sampleRate: 16_000, atMs: 0 },
    ];
    for (const variant of variants) {
      for (const [cue, value] of Object.entries(prosodyCues(variant) ?? {})) {
        expect(Math.abs(value - (reference?.[cue as keyof typeof reference] ?? Number.NaN))).toBeLessThan(0.15);
      }
    }
  });

  it('prosodic cues are undefined for almost no sound', () => {
    for (const length of [0, 1, 400, 16_000, 160_000]) {
      expect(prosodyCues({ samples: new Float32Array(length), sampleRate: 16_000, atMs: 0 })).toBeUndefined();
    }
    expect(prosodyCues(speech([{ ms: 60, hertz: 200 }]))).toBeUndefined();
  });
});

describe('built-in turn detector', () => {
  it('a final fall is more complete than a pitch that stays up', async () => {
    const [down, up] = await Promise.all(
      [falling, held].map((said) => detector.endOfTurnProbability(speech(said), { signal })),
    );
    expect(down).toBeGreaterThan(up as number);
  });

  it('the words outweigh the prosody', async () => {
    const turn = speech(held);
    const [open, closed, unknown] = await Promise.all([
      detector.endOfTurnProbability(turn, { signal, text: 'I was looking for the.' }),
      detector.endOfTurnProbability(turn, { signal, text: 'I was looking for the station.' }),
      detector.endOfTurnProbability(turn, { signal, text: 'Ich suche den Bahnhof.', language: 'de' }),
    ]);
    expect(open).toBeLessThan(0.2);
    expect(closed).toBeGreaterThan(0.6);
    expect(unknown).toBe(await detector.endOfTurnProbability(turn, { signal }));
  });

  it('the turn detector is undecided without sound and text', async () => {
    const silence = { samples: new Float32Array(8_000), sampleRate: 16_000, atMs: 0 };
    expect(await detector.endOfTurnProbability(silence, { signal })).toBe(0.5);
    expect(await detector.endOfTurnProbability(silence, { signal, text: '' })).toBe(0.5);
  });

  it('the turn detector returns a probability, whatever it is given', async () => {
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, 3e38, 1]) {
      const turn = { samples: new Float32Array(24_000).fill(value, 4_000), sampleRate: 16_000, atMs: 0 };
      const completeness = await detector.endOfTurnProbability(turn, { signal, text: 'and' });
      expect(completeness).toBeGreaterThanOrEqual(0);
      expect(completeness).toBeLessThanOrEqual(1);
    }
  });

  it.skipIf(!sharedAvailable)('the end of a recording is more complete than its middle, given the words', async () => {
    const { samples } = await readAudioFile(sharedPath('audio/jfk.wav'), { sampleRate: 16_000, signal });
    const at = (seconds: number): AudioFrame => ({
      samples: samples.subarray(0, seconds * 16_000),
      sampleRate: 16_000,
      atMs: 0,
    });
    const middle = await detector.endOfTurnProbability(at(4.6), {
      signal,
      text: 'And so my fellow Americans, ask not',
    });
    const end = await detector.endOfTurnProbability(at(10.8), {
      signal,
      text: 'Ask what you can do for your country.',
    });
    expect(middle).toBeLessThan(0.3);
    expect(end).toBeGreaterThan(0.6);
  });
});

describe('endpointing timeout', () => {
  const policy = { leastMs: 200, mostMs: 2_500, threshold: 0.8 };

  it('the endpointing timeout is least from the threshold on, most at zero, and proportional between', () => {
    expect([1, 0.9, 0.8].map((completeness) => endpointingTimeoutMs(completeness, policy))).toEqual([200, 200, 200]);
    expect(endpointingTimeoutMs(0, policy)).toBe(2_500);
    expect(endpointingTimeoutMs(0.4, policy)).toBeCloseTo(1_350, 6);
  });
});
