import { readFile, stat } from 'node:fs/promises';
import { readAudioFile } from '../../voices/dsp/audio-file.ts';
import { readWav, wavBytes } from '../../voices/dsp/wav.ts';
import { recordedAnswer, type DialogueAgent } from '../speechrole/data/task.ts';
import path from 'node:path';
import { z } from 'zod';
import { EvalError } from '../eval-error.ts';
import type { DialogueInput } from '../speechrole/data/test-data.ts';

/** An agent that replays stored answers: reads their recordings and makes no calls. */
export function storedAgent(name: string, outputs: StoredOutputs): DialogueAgent {
  return {
    name,
    async answer(sample, { audio, signal }) {
      const stored = await outputs.answersTo(sample.input);
      const answers = stored.map(async ({ text, speech }) => recordedAnswer(text, await wavOf(speech, signal), audio));
      return { system: null, answers: await Promise.all(answers) };
    },
  };
}

/** Returns the file's bytes unchanged if it is a readable WAV, otherwise the recording converted to WAV. */
async function wavOf(file: string, signal: AbortSignal): Promise<Buffer> {
  if (/\.wav$/i.test(file)) {
    const bytes = await readFile(file);
    const sound = await readWav(bytes).catch(() => undefined);
    if (sound !== undefined) return bytes;
  }
  const sound = await readAudioFile(file, { sampleRate: 24_000, signal });
  return wavBytes(sound.samples, sound.sampleRate);
}

const turn = z.looseObject({
  turn: z.number().optional(),
  model_output: z.looseObject({ text: z.string().default(''), audio_path: z.string().min(1) }),
});

const outputFile = z.looseObject({ role: z.string().optional(), dialogue: z.array(turn).optional() });

/** Answers of a system, in the form that SpeechRole's judge reads. */
export interface StoredOutputs {
  /** Absolute path of the folder. */
  readonly path: string;
  /** Returns the stored answers to a dialogue. Throws an `EvalError` that names what is missing. */
  answersTo(
    dialogue: DialogueInput,
  ): Promise<readonly { readonly text: string; /** Absolute path of the recording. */ readonly speech: string }[]>;
}

/**
 * Opens `model_output/<model>`, which contains `{single,multi}_result/json/<role>.json` with `dialogue_0`,
 * `dialogue_1`, … or, in the older form, a single `dialogue` used for all. Paths of recordings are relative to the
 * folder that contains `model_output`, or to one between it and the file.
 */
export async function openOutputs(folder: string): Promise<StoredOutputs> {
  const whole = path.resolve(folder);
  if ((await stat(whole).catch(() => undefined))?.isDirectory() !== true)
    throw new EvalError('data', `${folder} is not a folder. Give the folder model_output/<model>.`);
  return {
    path: whole,
    async answersTo({ role, mode, index, turns }) {
      const file = await firstThere([
        path.join(whole, `${mode}_result`, 'json', `${role}.json`),
        path.join(whole, mode, `${role}.json`),
      ]);
      const parsed = await readFile(file, 'utf8')
        .then((text) => outputFile.parse(JSON.parse(text)))
        .catch((cause: unknown) => {
          const advice = 'Check --outputs, or leave the role out with --roles.';
          throw new EvalError('data', `${file}: no readable answers of ${role} (${mode}). ${advice}`, cause);
        });
      const listed = parsed[`dialogue_${index}`] ?? parsed.dialogue;
      const found = z.array(turn).safeParse(listed);
      if (!found.success)
        throw new EvalError(
          'data',
          `${file}: dialogue_${index} is missing or incomplete. Add its answers to the file.`,
        );
      if (found.data.length < turns.length)
        throw new EvalError(
          'data',
          `${file}: dialogue_${index} has ${found.data.length} of ${turns.length} turns. Add the others to the file.`,
        );
      return Promise.all(
        found.data.slice(0, turns.length).map(async ({ model_output }) => ({
          text: model_output.text,
          speech: await findSpeech(whole, model_output.audio_path),
        })),
      );
    },
  };
}

async function findSpeech(folder: string, place: string): Promise<string> {
  const plain = place.replaceAll('\\', '/');
  const above = [folder];
  for (let at = folder; path.dirname(at) !== at && above.length < 6; at = path.dirname(at))
    above.push(path.dirname(at));
  const found = await firstThere(above.map((base) => path.resolve(base, plain)));
  if ((await stat(found).catch(() => undefined)) === undefined)
    throw new EvalError(
      'data',
      `${place} is missing in ${folder} and the folders above it. Correct the audio_path, or add the recording.`,
    );
  return found;
}

/** Returns the first path that exists, otherwise the first. */
async function firstThere(places: readonly string[]): Promise<string> {
  for (const place of places) if ((await stat(place).catch(() => undefined)) !== undefined) return place;
  return places[0] as string;
}
