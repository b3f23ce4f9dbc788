import { setTimeout as pause } from 'node:timers/promises';
import { alignedBy } from '../../../server/responders/lip-synced.ts';
import { durationMs } from '../../../voices/audio.ts';
import type { SpeechChunk, SpeechSynthesizer } from '../../../voices/synthesizer.ts';
import type { Aligner } from '../../../voices/visemes/aligner.ts';
import { summarize, type BenchRow } from '../kit/stats.ts';
import {
  figuresOf,
  joinedMouth,
  openBenchAligner,
  silentEngine,
  stretchedEvenly,
  together,
  voiced,
  type AlignmentFigures,
} from './aligned.ts';
import type { VoicedLine } from './voiced-lines.ts';

const bench = 'visemes';
/** Lines whose sound is played in real time. */
const liveLines = 4;

interface Engines {
  readonly flite: SpeechSynthesizer;
  readonly espeak: SpeechSynthesizer | undefined;
}

/**
 * Shapes for engines that tell no sounds, against what Flite and eSpeak NG report of voices that are not the reference,
 * with the even stretch of the same reference as the baseline.
 */
export async function* alignedRows({ flite, espeak }: Engines, lines: readonly string[]): AsyncIterable<BenchRow> {
  const sentences = lines.flatMap((line) => line.split(/(?<=[.!?])\s/u)).filter(({ length }) => length > 20);
  const aligner = openBenchAligner();
  try {
    const reference = await voicesOf(flite, 'rms', sentences);
    const voices: [name: string, engine: SpeechSynthesizer | undefined, id: string][] = [
      ['slt', flite, 'slt'],
      ['awb', flite, 'awb'],
      ['espeak', espeak, 'en'],
      ['espeak, a woman', espeak, 'en-us+f3'],
    ];
    for (const [name, engine, id] of voices) {
      if (engine === undefined) continue;
      const spoken = await voicesOf(engine, id, sentences);
      const before = process.cpuUsage();
      const aligned: AlignmentFigures[] = [];
      for (const line of spoken.values()) aligned.push(figuresOf(joinedMouth(await told(aligner, line)), line));
      const cpu = process.cpuUsage(before);
      yield* quality(`aligned, ${name}`, together(aligned));
      const stretched = [...spoken].map(([text, line]) => {
        const same = reference.get(text);
        return same === undefined ? undefined : figuresOf(stretchedEvenly(same, line), line);
      });
      yield* quality(`stretched evenly, ${name}`, together(stretched.filter((one) => one !== undefined)));
      const seconds = [...spoken.values()].reduce(
        (sum, { samples, sampleRate }) => sum + samples.length / sampleRate,
        0,
      );
      yield summarize(bench, `CPU of aligning, ${name}, per s of speech`, 'ms', [
        (cpu.user + cpu.system) / 1000 / seconds,
      ]);
    }
    if (espeak !== undefined) yield* byWords(aligner, espeak, sentences);
    yield* live(aligner, await voicesOf(flite, 'awb', sentences.slice(0, liveLines)));
  } finally {
    await aligner.close();
  }
}

function* quality(
  name: string,
  { onsetsMs, shapesMs, closuresMs, right, frames }: AlignmentFigures,
): Iterable<BenchRow> {
  const within = (values: readonly number[], mostMs: number): number =>
    (100 * values.filter((ms) => ms <= mostMs).length) / values.length;
  // Engines name sounds differently; the shapes are what is seen.
  yield summarize(bench, `${name}: onsets of sounds within 40 ms`, '%', [within(onsetsMs, 40)]);
  yield summarize(bench, `${name}: onsets of shapes within 40 ms`, '%', [within(shapesMs, 40)]);
  yield summarize(bench, `${name}: closures within 60 ms`, '%', [within(closuresMs, 60)]);
  yield summarize(bench, `${name}: frames right`, '%', [(100 * right) / frames]);
}

async function voicesOf(
  engine: SpeechSynthesizer,
  id: string,
  sentences: readonly string[],
): Promise<Map<string, VoicedLine>> {
  const found = new Map<string, VoicedLine>();
  for (const text of sentences) {
    const line = await voiced(engine, id, text);
    if (line !== undefined) found.set(text, line);
  }
  return found;
}

async function* one(text: string): AsyncGenerator<{ text: string }> {
  yield { text };
}

function told(aligner: Aligner, line: VoicedLine): Promise<SpeechChunk[]> {
  return Array.fromAsync(alignedBy(aligner, 'en', { waits: true })(one(line.text), silentEngine(line, 100)));
}

/** Word times as eSpeak NG tells them, with the sounds of another engine within each. */
async function* byWords(
  aligner: Aligner,
  espeak: SpeechSynthesizer,
  sentences: readonly string[],
): AsyncIterable<BenchRow> {
  const { signal } = new AbortController();
  const figures: AlignmentFigures[] = [];
  for (const text of sentences) {
    const voice = { kind: 'preset', id: 'en' } as const;
    const chunks = await Array.fromAsync(espeak.speak(one(text), { signal, voice }));
    const [chunk] = chunks;
    if (chunk?.mouth === undefined || chunks.length > 1) continue;
    const { mouth, ...silent } = chunk;
    const speak = async function* speak(phrases: AsyncIterable<unknown>): AsyncGenerator<SpeechChunk> {
      for await (const _ of phrases) yield { ...silent, wordsAreExact: true };
    };
    const by = await Array.fromAsync(alignedBy(aligner, 'en', { waits: true })(one(text), speak));
    figures.push(figuresOf(joinedMouth(by), { text, mouth, ...chunk.frame }));
  }
  yield* quality('times of words', together(figures));
}

/** An engine twice as fast as speech, heard as it comes: how much of the sound had its shapes in time. */
async function* live(aligner: Aligner, lines: ReadonlyMap<string, VoicedLine>): AsyncIterable<BenchRow> {
  const shares: number[] = [];
  const delays: number[] = [];
  for (const line of lines.values()) {
    const firstAfter = async (speech: AsyncIterable<SpeechChunk>, isPlayed: boolean): Promise<number> => {
      const before = performance.now();
      let [firstMs, aligned, all] = [Number.NaN, 0, 0];
      for await (const { frame, mouth } of speech) {
        if (Number.isNaN(firstMs)) firstMs = performance.now() - before;
        all += durationMs(frame);
        if (mouth?.basis === 'aligned') aligned += durationMs(frame);
        if (isPlayed) await pause(durationMs(frame));
      }
      if (isPlayed) shares.push((100 * aligned) / all);
      return firstMs;
    };
    const engine = (): ReturnType<typeof silentEngine> => silentEngine(line, 100, (ms) => pause(ms / 2));
    const without = await firstAfter(engine()(one(line.text)), false);
    const withShapes = await firstAfter(alignedBy(aligner, 'en')(one(line.text), engine()), true);
    delays.push(withShapes - without);
  }
  yield summarize(bench, 'aligned in time, live', '%', shares);
  yield summarize(bench, 'first sound later because of alignment', 'ms', delays);
}
