import { afterAll, describe, expect, it } from 'vitest';
import { readAudioFile } from '../../../voices/dsp/audio-file.ts';
import type { AudioFrame } from '../../../voices/audio.ts';
import { openBuiltInDetector } from '../../../voices/turn-detectors/built-in.ts';
import { probabilityOf } from '../../../voices/turn-detectors/end-of-turn.ts';
import { frameCount, frameValues, soundFrames } from '../../../voices/turn-detectors/sound-frames.ts';
import { soundLogit } from '../../../voices/turn-detectors/sound.ts';
import { sharedAvailable, sharedPath } from '../../shared.ts';
import { mean } from '../../../voices/dsp/statistics.ts';

const { signal } = new AbortController();
const detector = openBuiltInDetector();
afterAll(() => detector.close());

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

/** Frames as rows of values. */
function rowsOf(frame: AudioFrame): number[][] {
  const values = [...soundFrames(frame)];
  return Array.from({ length: frameCount }, (_, index) => values.slice(index * frameValues, (index + 1) * frameValues));
}

describe('sound frames', () => {
  it('the pitch of the last frames is relative to the median of the speech', () => {
    const last = (syllables: Syllable[]): number[] => {
      const pitches = rowsOf(speech(syllables)).filter(([, voiced]) => voiced === 1);
      return pitches.slice(-4).map(([pitch = Number.NaN]) => pitch);
    };
    for (const pitch of last(falling)) expect(pitch).toBeLessThan(-0.4);
    for (const pitch of last(held)) expect(pitch).toBeGreaterThan(0.1);
  });

  it('sound frames are about the same at another sample rate, loudness, and after a longer silence', () => {
    const reference = rowsOf(speech(falling));
    const { samples } = speech(falling);
    const variants = [
      speech(falling, 24_000),
      { samples: samples.map((value) => value / 20), sampleRate: 16_000, atMs: 0 },
      { samples: Float32Array.from([...samples, ...Array<number>(8_000).fill(0)]), sampleRate: 16_000, atMs: 0 },
    ];
    for (const variant of variants) {
      const difference = rowsOf(variant).flatMap((row, index) =>
        row.map((value, place) => Math.abs(value - (reference[index]?.[place] ?? Number.NaN))),
      );
      expect(mean(difference)).toBeLessThan(0.15);
    }
  });

  it('almost no sound says nothing about the end of a turn', () => {
    for (const length of [0, 1, 400, 16_000, 160_000]) {
      expect(soundLogit({ samples: new Float32Array(length), sampleRate: 16_000 })).toBe(0);
    }
    expect(soundLogit(speech([{ ms: 60, hertz: 200 }]))).toBe(0);
  });
});

describe('words and sound together', () => {
  it('beside words, a falling voice has little effect, and a hesitating one lowers the probability; without words, both count', () => {
    const words = 0.5;
    expect(probabilityOf({ words, sound: 2.5 })).toBe(probabilityOf({ words, sound: 1 }));
    expect(probabilityOf({ words, sound: -2.5 })).toBeLessThan(probabilityOf({ words, sound: -1 }));
    expect(probabilityOf({ sound: 2.5 })).toBeGreaterThan(probabilityOf({ sound: 1 }));
  });
});

describe('built-in turn detector', () => {
  it('a final fall is more complete than a pitch that stays up', async () => {
    const [down, up] = await Promise.all(
      [falling, held].map((said) => detector.endOfTurnProbability(speech(said), { signal })),
    );
    expect(down).toBeGreaterThan(up as number);
  });

  it('of the same sound, a whole sentence is more complete than words that hang; a sentence in another language is judged by the sound', async () => {
    const turn = speech(held);
    const [open, closed, unknown] = await Promise.all([
      detector.endOfTurnProbability(turn, { signal, text: 'I was looking for the.' }),
      detector.endOfTurnProbability(turn, { signal, text: 'I was looking for the station.' }),
      detector.endOfTurnProbability(turn, { signal, text: 'Ich suche den Bahnhof.', language: 'de' }),
    ]);
    expect(open).toBeLessThan(0.2);
    expect(closed).toBeGreaterThan(2 * open);
    expect(unknown).toBe(await detector.endOfTurnProbability(turn, { signal }));
  });

  it('the turn detector is undecided without sound and text', async () => {
    const silence = { samples: new Float32Array(8_000), sampleRate: 16_000, atMs: 0 };
    expect(await detector.endOfTurnProbability(silence, { signal })).toBe(0.5);
    expect(await detector.endOfTurnProbability(silence, { signal, text: '' })).toBe(0.5);
  });

  it('the turn detector returns a probability for any input', async () => {
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
