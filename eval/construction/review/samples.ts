import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { seededRandom } from '../../statistics.ts';
import { decodeText } from '../books/decode.ts';
import { readBooks } from '../books/read-books.ts';
import { dialoguesIn } from '../records/dialogue-file.ts';
import { messageOf, type Dialogue } from '../records/dialogue.ts';
import type { Source } from '../runner/stage.ts';

/** A passage of the input that a dialogue was made from. */
export interface Passage extends Source {
  readonly text: string;
}

/** A dialogue to be reviewed, with the passages that it was made from. */
export interface Sample {
  readonly dialogue: Dialogue;
  /** Message of each turn, with [thoughts] and (actions). */
  readonly messages: readonly string[];
  readonly passages: readonly Passage[];
}

const mostPassages = 4;

/** Draws dialogues of a build, the same ones for the same seed, in the order of the build (reservoir sampling). */
export async function drawDialogues(folder: string, count: number, seed: number): Promise<readonly Dialogue[]> {
  const random = seededRandom(seed);
  const drawn: { readonly at: number; readonly dialogue: Dialogue }[] = [];
  let at = 0;
  for await (const dialogue of dialoguesIn(folder)) {
    const place = at < count ? at : Math.floor(random() * (at + 1));
    if (place < count) drawn[place] = { at, dialogue };
    at += 1;
  }
  return drawn.toSorted((left, right) => left.at - right.at).map(({ dialogue }) => dialogue);
}

/**
 * Reads the passages of dialogues out of the input of a build: books, or a folder with scripts. Without `input` there are
 * none. Only the passages are kept in memory.
 */
export async function withPassages(
  dialogues: readonly Dialogue[],
  input: string | undefined,
): Promise<readonly Sample[]> {
  const wanted = new Map<string, Source>();
  const sourcesOf = ({ provenance }: Dialogue): readonly Source[] => (provenance?.sources ?? []).slice(0, mostPassages);
  for (const dialogue of dialogues) for (const source of sourcesOf(dialogue)) wanted.set(keyOf(source), source);
  const found = new Map<string, Passage>();
  const take = (file: string, text: string): void => {
    for (const [key, source] of wanted)
      if (source.file === file) found.set(key, { ...source, text: text.slice(source.from, source.to) });
  };
  if (input !== undefined) {
    const isFolder = (await stat(input).catch(() => undefined))?.isDirectory() === true;
    const scripts = new Set([...wanted.values()].map(({ file }) => file).filter((file) => file.includes('/')));
    for (const file of isFolder ? scripts : []) {
      const place = path.resolve(input, file);
      if (!place.startsWith(path.resolve(input) + path.sep)) continue;
      const bytes = await readFile(place).catch(() => undefined);
      if (bytes !== undefined) take(file, decodeText(bytes).text);
    }
    if (scripts.size < new Set([...wanted.values()].map(({ file }) => file)).size)
      for await (const { file, text } of readBooks(input)) take(file, text);
  }
  return dialogues.map((dialogue) => ({
    dialogue,
    messages: dialogue.turns.map((turn) => messageOf(turn)),
    passages: sourcesOf(dialogue).flatMap((source) => found.get(keyOf(source)) ?? []),
  }));
}

function keyOf({ file, from, to }: Source): string {
  return JSON.stringify([file, from, to]);
}
