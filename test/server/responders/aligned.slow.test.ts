import { afterAll, describe, expect, it } from 'vitest';
import { alignedBy } from '../../../server/responders/lip-synced.ts';
import { durationMs } from '../../../voices/audio.ts';
import type { SpeechChunk } from '../../../voices/synthesizer.ts';
import type { Aligner } from '../../../voices/visemes/aligner.ts';
import { openFlite } from '../../../voices/synthesizers/flite.ts';
import {
  figuresOf,
  joinedMouth,
  openBenchAligner,
  silentEngine,
  together,
  voiced,
} from '../../bench/visemes/aligned.ts';
import { linesOfCharacters, type VoicedLine } from '../../bench/visemes/voiced-lines.ts';
import { array, assert, asyncProperty, integer } from '../../fakes/property.ts';

const flite = openFlite();
const aligner = openBenchAligner();
afterAll(() => Promise.all([flite.close(), aligner.close()]));

async function* one(text: string): AsyncGenerator<{ text: string }> {
  yield { text };
}

/** Lines of a voice that is not the reference, each one chunk of the engine. */
async function lines(count: number, id = 'slt', rate = 1): Promise<VoicedLine[]> {
  const found: VoicedLine[] = [];
  const sentences = (await linesOfCharacters(0, 60)).flatMap((line) => line.split(/(?<=[.!?])\s/u));
  for (const text of sentences.filter(({ length }) => length > 35 && length < 70)) {
    if (found.length === count) break;
    const line = await voiced(flite, id, text, rate);
    if (line !== undefined) found.push(line);
  }
  return found;
}

async function told(line: VoicedLine, pieceMs = 100, by: Aligner = aligner, waits = true): Promise<SpeechChunk[]> {
  const speech = alignedBy(by, 'en', { waits })(one(line.text), silentEngine(line, pieceMs));
  return Array.fromAsync(speech);
}

/** Sound and shapes are whole: no sample is lost, shapes begin at 0 and ascend within each chunk. */
function expectWhole(chunks: readonly SpeechChunk[], { samples, text }: VoicedLine): void {
  expect(chunks.reduce((sum, { frame }) => sum + frame.samples.length, 0)).toBe(samples.length);
  expect(chunks.map((chunk) => chunk.text).join('')).toBe(text);
  for (const { frame, mouth } of chunks) {
    const starts = mouth?.visemes.map(({ startMs }) => startMs) ?? [];
    expect(starts[0]).toBe(0);
    expect(starts.every((ms, at) => ms >= (starts[at - 1] ?? 0) && ms <= durationMs(frame) + 1)).toBe(true);
  }
}

const within = (values: readonly number[], mostMs: number): number =>
  values.filter((ms) => ms <= mostMs).length / values.length;

const share = (chunks: readonly SpeechChunk[], basis: string): number => {
  const lengthOf = (some: readonly SpeechChunk[]): number =>
    some.reduce((sum, { frame }) => sum + durationMs(frame), 0);
  return lengthOf(chunks.filter(({ mouth }) => mouth?.basis === basis)) / lengthOf(chunks);
};

/** White noise of a seed, from -0.5 to 0.5. */
function noise(length: number, seed = 1): Float32Array {
  let state = seed;
  return Float32Array.from({ length }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648 - 0.5;
  });
}

describe('speech of an engine that tells no times, aligned with a reference voice', () => {
  it('has most onsets within 40 ms, and most closures within 60 ms, in two voices that are not the reference', async () => {
    for (const id of ['slt', 'awb']) {
      const spoken = await lines(5, id);
      const figures = [];
      for (const line of spoken) {
        const chunks = await told(line);
        expectWhole(chunks, line);
        expect(share(chunks, 'aligned')).toBeGreaterThan(0.9);
        figures.push(figuresOf(joinedMouth(chunks), line));
      }
      const { onsetsMs, closuresMs, right, frames } = together(figures);
      expect(within(onsetsMs, 40)).toBeGreaterThanOrEqual(0.8);
      expect(within(closuresMs, 60)).toBeGreaterThanOrEqual(0.8);
      expect(right / frames).toBeGreaterThanOrEqual(0.7);
    }
  }, 120_000);

  it.each([0.7, 1.4])(
    'stays with the sound at a tempo of %d',
    async (rate) => {
      const spoken = await lines(4, 'awb', rate);
      const figures = [];
      for (const line of spoken) figures.push(figuresOf(joinedMouth(await told(line)), line));
      expect(within(together(figures).onsetsMs, 60)).toBeGreaterThanOrEqual(0.7);
    },
    120_000,
  );

  it('stays with the sound in noise of 10 dB', async () => {
    const spoken = await lines(4, 'awb');
    const figures = [];
    for (const line of spoken) {
      const level = Math.sqrt(line.samples.reduce((sum, one) => sum + one * one, 0) / line.samples.length);
      const noisy = noise(line.samples.length).map((one, at) => one * level * 1.1 + (line.samples[at] as number));
      figures.push(figuresOf(joinedMouth(await told({ ...line, samples: noisy })), line));
    }
    expect(within(together(figures).onsetsMs, 40)).toBeGreaterThanOrEqual(0.6);
  }, 120_000);

  it('finds the shapes in the sound where the sound is not the text: other words, a missing second, noise', async () => {
    const [line, other] = (await lines(2)) as [VoicedLine, VoicedLine];
    const wrong = { ...line, samples: other.samples };
    expectWhole(await told(wrong), wrong);
    const onlyNoise = { ...line, samples: noise(line.samples.length).map((one) => one * 0.2) };
    expect(share(await told(onlyNoise), 'sound')).toBe(1);
    const missing = { ...line, samples: line.samples.slice(line.sampleRate) };
    const chunks = await told(missing);
    expectWhole(chunks, missing);
    expect(chunks[0]?.mouth?.basis).toBe('sound');
  }, 120_000);

  it('finds the shapes of a cough in the audio, and continues after it', async () => {
    const [line] = (await lines(1, 'awb')) as [VoicedLine];
    const half = line.samples.length >> 1;
    const cough = noise(line.sampleRate * 0.8).map((one, at) => one * 0.8 * Math.exp(-at / line.sampleRate / 0.5));
    const samples = Float32Array.from([...line.samples.subarray(0, half), ...cough, ...line.samples.subarray(half)]);
    const chunks = await told({ ...line, samples });
    expectWhole(chunks, { ...line, samples });
    const bases = chunks.map(({ mouth }) => mouth?.basis);
    expect(bases).toContain('sound');
    expect(bases).toContain('aligned');
  }, 120_000);

  it('is whole however the sound is cut into pieces', async () => {
    const [line] = (await lines(1)) as [VoicedLine];
    const short = { ...line, samples: line.samples.slice(0, line.sampleRate * 1.2) };
    await assert(
      asyncProperty(integer({ min: 7, max: 900 }), async (pieceMs) => {
        expectWhole(await told(short, pieceMs), short);
        expectWhole(await told(short, pieceMs, aligner, false), short);
      }),
      { numRuns: 20 },
    );
  }, 120_000);

  it('never holds the sound back: without a reference, all of it comes at once, with shapes from the sound', async () => {
    const [line] = (await lines(1)) as [VoicedLine];
    const never = openNever();
    const chunks = await told(line, 100, never, false);
    expectWhole(chunks, line);
    expect(share(chunks, 'sound')).toBe(1);
  }, 60_000);
});

/** An aligner whose reference never comes. */
function openNever(): Aligner {
  return {
    begin: () => ({
      take() {},
      end() {},
      knownMs: 0,
      between: () => undefined,
      settled: () => new Promise(() => undefined),
      close() {},
    }),
    async close() {},
  };
}

describe('speech of an engine that tells the times of its words', () => {
  it('has the sounds of each word within its word', async () => {
    const [line] = (await lines(1)) as [VoicedLine];
    const words = line.text.trim().split(/(?<=\s)/u);
    const lengthMs = (line.samples.length / line.sampleRate) * 1000;
    await assert(
      asyncProperty(
        array(integer({ min: 50, max: 500 }), { minLength: words.length, maxLength: words.length }),
        async (lengths) => {
          const scale = lengthMs / lengths.reduce((sum, ms) => sum + ms, 0);
          let atMs = 0;
          const timed = words.map((text, index) => {
            const startMs = atMs;
            atMs += (lengths[index] as number) * scale;
            return { text, startMs, endMs: atMs };
          });
          const frame = { samples: line.samples, sampleRate: line.sampleRate, atMs: 0 };
          const speak = async function* speak(phrases: AsyncIterable<{ text: string }>): AsyncGenerator<SpeechChunk> {
            for await (const { text } of phrases) yield { frame, text, words: timed, wordsAreExact: true };
          };
          const chunks = await Array.fromAsync(alignedBy(aligner, 'en', { waits: true })(one(line.text), speak));
          expect(new Set(chunks.map(({ mouth }) => mouth?.basis))).toEqual(new Set(['words']));
          const { phones } = joinedMouth(chunks);
          for (const { startMs, endMs } of timed) {
            const inside = phones.filter((phone) => phone.startMs >= startMs - 1 && phone.startMs < endMs - 1);
            expect(inside.length).toBeGreaterThan(0);
          }
        },
      ),
      { numRuns: 10 },
    );
  }, 60_000);
});
