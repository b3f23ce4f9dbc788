import { describe, expect, it } from 'vitest';
import { mouthFile } from '../../../server/speech/mouth-file.ts';
import { speakText, type SpokenBlock } from '../../../server/speech/speak-text.ts';
import type { MouthMovement, SpeechSynthesizer } from '../../../voices/synthesizer.ts';
import { fakeSynthesizer } from '../../fakes/synthesizer.ts';

const mouth: MouthMovement = {
  basis: 'engine',
  visemes: [
    { viseme: 'sil', startMs: 0 },
    { viseme: 'kk', startMs: 20 },
    { viseme: 'DD', startMs: 40 },
    { viseme: 'aa', startMs: 50 },
  ],
  phones: [{ sound: 'k', startMs: 0, endMs: 100 }],
};

/** Two chunks of 100 ms with the same movement. */
function voice(told: MouthMovement | undefined): SpeechSynthesizer {
  return {
    ...fakeSynthesizer(),
    async *speak() {
      for (const text of ['One ', 'two.']) {
        const frame = { samples: new Float32Array(1_600), sampleRate: 16_000, atMs: 0 };
        yield { frame, text, words: [{ text: text.trim(), startMs: 10, endMs: 90 }], ...(told && { mouth: told }) };
      }
    },
  };
}

async function spoken(told: MouthMovement | undefined): Promise<SpokenBlock[]> {
  const options = { signal: new AbortController().signal, voice: { kind: 'preset', id: 'any' } } as const;
  return Array.fromAsync(speakText('One two.', voice(told), options));
}

describe('a file about the mouth', () => {
  it('in our own format counts samples at 24 kHz through all chunks, for any rate of the voice', async () => {
    expect(mouthFile('oculus', await spoken(mouth), 'a.wav')).toEqual({
      format: 'oculus',
      sampleRate: 24_000,
      until: 4_800,
      basis: 'engine',
      visemes: [
        [0, 'sil'],
        [480, 'kk'],
        [960, 'DD'],
        [1_200, 'aa'],
        [2_400, 'sil'],
        [2_880, 'kk'],
        [3_360, 'DD'],
        [3_600, 'aa'],
      ],
      phones: [
        [0, 'k'],
        [2_400, 'k'],
      ],
      words: [
        [240, 'One'],
        [2_640, 'two.'],
      ],
    });
  });

  it('for Rhubarb has cues in seconds that join, and neighbours that differ', async () => {
    const cues = [
      { start: 0, end: 0.02, value: 'X' },
      { start: 0.02, end: 0.05, value: 'B' },
      { start: 0.05, end: 0.1, value: 'D' },
      { start: 0.1, end: 0.12, value: 'X' },
      { start: 0.12, end: 0.15, value: 'B' },
      { start: 0.15, end: 0.2, value: 'D' },
    ];
    const file = mouthFile('rhubarb', await spoken(mouth), 'a.wav');
    expect(file).toEqual({ metadata: { soundFile: 'a.wav', duration: 0.2 }, mouthCues: cues });
  });

  it('for ARKit has a weight of each blend shape for each frame', async () => {
    const file = mouthFile('arkit', await spoken(mouth), 'a.wav') as { names: string[]; frames: number[][] };
    expect(file.frames).toHaveLength(12);
    const jaw = file.frames.map((frame) => frame[file.names.indexOf('jawOpen')] ?? Number.NaN);
    expect(jaw[0]).toBe(0);
    expect(Math.max(...jaw)).toBeGreaterThan(0.5);
    expect(file.frames.every((frame) => frame.length === file.names.length)).toBe(true);
  });

  it('is not made for a voice without mouth shapes, or for no speech', async () => {
    expect(mouthFile('oculus', await spoken(undefined), 'a.wav')).toBeUndefined();
    expect(mouthFile('rhubarb', [], 'a.wav')).toBeUndefined();
  });
});
