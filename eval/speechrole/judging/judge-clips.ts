import { readFile } from 'node:fs/promises';
import { concatSamples } from '../../../voices/audio.ts';
import { readAudioFile } from '../../../voices/dsp/audio-file.ts';
import { resample } from '../../../voices/dsp/resampler.ts';
import { readWav, wavBytes } from '../../../voices/dsp/wav.ts';
import type { AudioStore } from '../../audio-store.ts';
import { EvalError } from '../../eval-error.ts';
import { joinGapSeconds, type JudgeClip } from '../../judge/dialects.ts';
import type { Solved } from '../../task.ts';
import type { DialogueOutput } from '../data/answers.ts';
import type { DialogueInput, DialogueTarget } from '../data/test-data.ts';

/** Audio preparation for a judge: `whole` sends the files unchanged; otherwise they are cut or resampled. */
export interface ClipFormat {
  readonly whole: boolean;
  readonly maxSeconds?: number;
  readonly sampleRate?: number;
}

/** Recordings of both speakers, one per round. */
export interface DialogueClips {
  readonly test: readonly JudgeClip[];
  readonly reference: readonly JudgeClip[];
}

type SolvedDialogue = Solved<DialogueInput, DialogueTarget, DialogueOutput>;

/**
 * Returns a function that prepares a dialogue's recordings, once per dialogue however many questions are asked about
 * it.
 */
export function openClips(shape: ClipFormat): (solved: SolvedDialogue, audio: AudioStore) => Promise<DialogueClips> {
  const prepared = new WeakMap<SolvedDialogue, Promise<DialogueClips>>();
  return (solved, audio) => {
    const known = prepared.get(solved);
    if (known !== undefined) return known;
    const made = prepare(solved, audio, shape);
    prepared.set(solved, made);
    return made;
  };
}

async function prepare(
  { sample, output }: SolvedDialogue,
  audio: AudioStore,
  shape: ClipFormat,
): Promise<DialogueClips> {
  const test = await Promise.all(
    output.answers.map(async (answer, round) => {
      if (answer.audio === null) throw new EvalError('agent', `${sample.id}: there is no sound in round ${round + 1}.`);
      return clipOf(await audio.read(answer.audio), shape);
    }),
  );
  const reference = await Promise.all(
    sample.target.turns.map(async ({ speech }, round) => {
      if (speech === null) throw new EvalError('data', `${sample.id}: round ${round + 1} has no reference recording.`);
      return clipOf(await readReference(speech), shape);
    }),
  );
  return { test, reference };
}

async function readReference(file: string): Promise<Buffer> {
  if (/\.wav$/i.test(file)) {
    return readFile(file).catch((cause: unknown) => {
      throw new EvalError('data', `${file}: this reference recording is missing.`, cause);
    });
  }
  const { samples, sampleRate } = await readAudioFile(file, {
    sampleRate: 24_000,
    signal: new AbortController().signal,
  });
  return wavBytes(samples, sampleRate);
}

async function clipOf(wav: Buffer, { whole, maxSeconds, sampleRate }: ClipFormat): Promise<JudgeClip> {
  const sound = await readWav(wav);
  const seconds = sound.samples.length / sound.sampleRate;
  if (whole) return { base64: wav.toString('base64'), seconds };
  const cut = maxSeconds === undefined ? sound.samples : sound.samples.subarray(0, maxSeconds * sound.sampleRate);
  const rate = sampleRate ?? sound.sampleRate;
  const samples = rate === sound.sampleRate ? cut : resample(cut, sound.sampleRate, rate);
  return { base64: (await wavBytes(samples, rate)).toString('base64'), seconds: samples.length / rate };
}

/**
 * Joins clips into one WAV with silence between them, for judges that take one recording per request. Uses the sample
 * rate of the first.
 */
export async function joinClips(clips: readonly JudgeClip[]): Promise<string> {
  const sounds = await Promise.all(clips.map((clip) => readWav(Buffer.from(clip.base64, 'base64'))));
  const sampleRate = sounds[0]?.sampleRate ?? 16_000;
  const gap = new Float32Array(joinGapSeconds * sampleRate);
  const blocks = sounds.flatMap((sound) => [resample(sound.samples, sound.sampleRate, sampleRate), gap]);
  return (await wavBytes(concatSamples(blocks.slice(0, -1)), sampleRate)).toString('base64');
}
