import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { EvalError } from '../../eval-error.ts';
import type { DialogueInput } from './test-data.ts';

const turn = z.looseObject({
  turn: z.number().optional(),
  model_output: z.looseObject({ text: z.string().default(''), audio_path: z.string().min(1) }),
});
const outputFile = z.looseObject({ role: z.string().optional(), dialogue: z.array(turn).optional() });

/** One stored answer of a system. */
export interface StoredAnswer {
  readonly text: string;
  /** Absolute path of the recording. */
  readonly speech: string;
}

/** Answers of a system, in the form that SpeechRole's judge reads. */
export interface StoredOutputs {
  /** Absolute path of the folder. */
  readonly path: string;
  /** Returns the stored answers to a dialogue. Throws an `EvalError` that names what is missing. */
  answersTo(dialogue: DialogueInput): Promise<readonly StoredAnswer[]>;
}

/**
 * Opens `model_output/<model>`, which contains `{single,multi}_result/json/<role>.json` with `dialogue_0`,
 * `dialogue_1`, … or, in the older form, a single `dialogue` used for all. Paths of recordings are relative to the
 * folder that contains `model_output`, or to one between it and the file.
 */
export async function openOutputs(folder: string): Promise<StoredOutputs> {
  const whole = path.resolve(folder);
  if ((await stat(whole).catch(() => undefined))?.isDirectory() !== true)
    throw new EvalError('data', `${folder}: there is no such folder. Give model_output/<model>.`);
  return {
    path: whole,
    async answersTo({ role, mode, index, turns }) {
      const file = await firstThere([
        path.join(whole, `${mode}_result`, 'json', `${role}.json`),
        path.join(whole, mode, `${role}.json`),
      ]);
      const parsed = outputFile.safeParse(parseJson(await readFile(file, 'utf8').catch(() => '')));
      if (!parsed.success) throw new EvalError('data', `${file}: there are no outputs of ${role} (${mode}) here.`);
      const listed = parsed.data[`dialogue_${index}`] ?? parsed.data.dialogue;
      const found = z.array(turn).safeParse(listed);
      if (!found.success) throw new EvalError('data', `${file}: there is no dialogue_${index}.`);
      if (found.data.length < turns.length)
        throw new EvalError('data', `${file}: dialogue_${index} has ${found.data.length} turns of ${turns.length}.`);
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
    throw new EvalError('data', `${place}: this recording is missing, seen from ${folder} or any folder above it.`);
  return found;
}

/** Returns the first path that exists, otherwise the first. */
async function firstThere(places: readonly string[]): Promise<string> {
  for (const place of places) if ((await stat(place).catch(() => undefined)) !== undefined) return place;
  return places[0] as string;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
