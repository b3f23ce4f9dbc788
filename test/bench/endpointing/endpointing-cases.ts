import { readdirSync } from 'node:fs';
import { readAudioFile } from '../../../voices/dsp/audio-file.ts';
import { Rechunker, type AudioFrame } from '../../../voices/audio.ts';
import { createVadHysteresis } from '../../../voices/dsp/vad-hysteresis.ts';
import { openMoonshine } from '../../../voices/recognizers/moonshine.ts';
import { openSilero } from '../../../voices/vads/silero.ts';
import { sharedAvailable, sharedPath } from '../../shared.ts';

/** The state of a turn 200 ms into a silence. */
export interface PauseCase {
  readonly file: string;
  /** `end`: the speaker has finished. `pause`: a real pause within a turn. `gap`: cut between two words. */
  readonly kind: 'end' | 'pause' | 'gap';
  readonly turn: AudioFrame;
  /** The recognizer's transcript; empty if it does not know the language. */
  readonly text: string;
}

const rate = 16_000;
const windowMs = 32;
/** Silence after which detectors are asked. */
const askedAfterMs = 200;
/** Fade-out at a cut in a recording, because no speaker stops instantly. */
const fadeSamples = 960;
/** Recordings whose speaker finishes before the end (ms): another person speaks, or there is a noise. */
const earlierEnds: Readonly<Record<string, number>> = { 'vad-labelled.wav': 1_900, 'jfk.wav': 10_750 };

/**
 * Collects pauses inside and at the ends of turns from all speech recordings. A recording is a turn. Real pauses are
 * those that the VAD finds inside. Gaps are minima of loudness, 6 dB deep, at which the transcript of the first part is
 * a prefix of the whole transcript (in Chinese, which the recognizer does not know: all minima). Empty, with a printed
 * reason, without recordings.
 */
export async function pauseCases(): Promise<PauseCase[]> {
  if (!sharedAvailable) {
    console.error('The recordings of ../shared/audio are not here; nothing to measure.');
    return [];
  }
  const { signal } = new AbortController();
  const vad = openSilero();
  const recognizer = openMoonshine({});
  const ears: Ears = { vad, recognizer, signal };
  const cases: PauseCase[] = [];
  const names = readdirSync(sharedPath('audio')).filter((name) =>
    /^(jfk|LJ|libri|vad-lab|aishell|zh).*\.(wav|flac)$/.test(name),
  );
  for (const file of names.toSorted()) {
    const { samples } = await readAudioFile(sharedPath(`audio/${file}`), { sampleRate: rate, signal });
    const lastMs = earlierEnds[file] ?? (samples.length / rate) * 1000;
    cases.push(...(await casesOf(file, samples.subarray(0, (lastMs / 1000) * rate), ears)));
  }
  await Promise.all([vad.close(), recognizer.close()]);
  return cases;
}

interface Ears {
  readonly vad: ReturnType<typeof openSilero>;
  readonly recognizer: ReturnType<typeof openMoonshine>;
  readonly signal: AbortSignal;
}

async function casesOf(file: string, samples: Float32Array, ears: Ears): Promise<PauseCase[]> {
  const isEnglish = !/^(zh|aishell)/.test(file);
  const scores = await scoresOf(withSilence(samples, 600), ears);
  const runs = speechRuns(scores);
  const endMs = runs.at(-1)?.endMs ?? 0;
  const wholeText = isEnglish ? await textOf(withSilence(samples.subarray(0, at(endMs)), 600), ears) : '';
  const cases: PauseCase[] = [];
  const add = async (kind: PauseCase['kind'], cutMs: number): Promise<void> => {
    const cut = Math.min(samples.length, at(cutMs));
    const sound =
      kind === 'gap'
        ? fadeOut(samples.slice(0, cut))
        : samples.slice(0, Math.min(samples.length, cut + at(askedAfterMs)));
    const turn = withSilence(sound, (cut + at(askedAfterMs) - sound.length) / (rate / 1000));
    const text = isEnglish ? await textOf(withSilence(turn, 400), ears) : '';
    if (kind === 'gap' && isEnglish && !isBeginning(text, wholeText)) return;
    cases.push({ file, kind, text, turn: { samples: turn, sampleRate: rate, atMs: 0 } });
  };
  await add('end', endMs);
  for (const { endMs: pauseMs } of runs.slice(0, -1)) await add('pause', pauseMs);
  for (const gapMs of quietMoments(samples)) {
    const inSpeech = runs.some((run) => gapMs > run.startMs + 100 && gapMs < run.endMs - 100);
    if (inSpeech) await add('gap', gapMs);
  }
  return cases;
}

const at = (ms: number): number => Math.round((ms * rate) / 1000);

function withSilence(samples: Float32Array, ms: number): Float32Array {
  const longer = new Float32Array(samples.length + Math.max(0, at(ms)));
  longer.set(samples);
  return longer;
}

function fadeOut(samples: Float32Array): Float32Array {
  const length = Math.min(fadeSamples, samples.length);
  for (let index = 1; index <= length; index += 1) {
    const place = samples.length - index;
    samples[place] = ((samples[place] as number) * index) / length;
  }
  return samples;
}

async function scoresOf(samples: Float32Array, { vad }: Ears): Promise<number[]> {
  const stream = vad.open();
  const scores = await Promise.all(
    new Rechunker(vad.windowSamples).push(samples).map((window) => stream.score(window)),
  );
  stream.close();
  return scores;
}

function speechRuns(scores: readonly number[]): { readonly startMs: number; readonly endMs: number }[] {
  const edges = createVadHysteresis({ minSpeechMs: 96, minSilenceMs: 96, windowMs });
  const runs: { startMs: number; endMs: number }[] = [];
  let startMs = 0;
  for (const score of [...scores, 0, 0, 0, 0, 0]) {
    const edge = edges.push(score);
    if (edge?.type === 'speech-start') startMs = edge.atMs;
    if (edge?.type === 'speech-end') runs.push({ startMs, endMs: edge.atMs });
  }
  return runs;
}

async function textOf(samples: Float32Array, ears: Ears): Promise<string> {
  const scores = await scoresOf(samples, ears);
  const frames = async function* (): AsyncIterable<AudioFrame> {
    for (const [index, window] of new Rechunker(512).push(samples).entries()) {
      yield { samples: window, sampleRate: rate, atMs: index * windowMs, voiced: (scores[index] ?? 0) >= 0.5 };
    }
  };
  for await (const part of ears.recognizer.transcribe(frames(), { signal: ears.signal })) {
    if (part.type === 'transcript-final') return part.text;
  }
  return '';
}

function isBeginning(text: string, whole: string): boolean {
  const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? [];
  const all = wordsOf(whole);
  const words = wordsOf(text);
  return words.length > 0 && words.length < all.length && words.every((word, index) => word === all[index]);
}

/** Times in ms of minima of the loudness (25 ms) at least 6 dB below the maxima within 250 ms on both sides. */
function quietMoments(samples: Float32Array): number[] {
  const hop = at(5);
  const levels = Array.from({ length: Math.max(0, Math.floor((samples.length - at(25)) / hop)) }, (_, index) => {
    const power = samples.subarray(index * hop, index * hop + at(25)).reduce((sum, value) => sum + value * value, 0);
    return 10 * Math.log10(power / at(25) + 1e-8);
  });
  const moments: number[] = [];
  for (const [index, level] of levels.entries()) {
    const near = levels.slice(Math.max(0, index - 20), index + 21);
    const before = Math.max(...levels.slice(Math.max(0, index - 50), index), -Infinity);
    const after = Math.max(...levels.slice(index + 1, index + 51), -Infinity);
    if (near.every((other) => other >= level) && before - level > 6 && after - level > 6)
      moments.push(index * 5 + 12.5);
  }
  return moments;
}
