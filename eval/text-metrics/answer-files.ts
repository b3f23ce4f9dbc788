import { createReadStream } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { z } from 'zod';
import { EvalError } from '../eval-error.ts';

/** Longest row; a longer one means that the file does not consist of rows. */
const longestRowBytes = 16 * 2 ** 20;

/** Unpaired rows that are named; the others are only counted. */
const mostNamed = 20;

const texts = z.union([z.string().transform((text) => [text]), z.array(z.string()).min(1)]);
const row = z.looseObject({ role: z.string().default('') });
const questionFields = ['question', 'instruction', 'prompt', 'query'];
const answerFields = ['generated', 'references', 'reference', 'answers', 'answer', 'output', 'response', 'prediction'];

/** A row of a file of answers, in the fields of RoleBench or under other usual names. */
export interface AnswerRow {
  /** Trimmed, and empty if the file has none. */
  readonly role: string;
  /** Trimmed. */
  readonly question: string;
  readonly answers: readonly string[];
  /** All fields of the row. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Place of a row that has no partner. */
export interface UnpairedRow extends Pick<AnswerRow, 'role' | 'question'> {
  readonly file: 'references' | 'outputs';
  /** From 1. */
  readonly line: number;
}

/** Result of a join. */
export interface JoinCounts {
  readonly references: number;
  readonly outputs: number;
  readonly referencesWithoutOutput: number;
  readonly outputsWithoutReference: number;
  /** Rows of both files that are not JSON, or have no question or no answer. */
  readonly unreadable: number;
  /** The first rows without a partner. */
  readonly unpaired: readonly UnpairedRow[];
}

/**
 * Joins two JSONL files by role and trimmed question, and calls `onPair` in the order of the references. Of rows with
 * equal keys the first meets the first, the second the second; if outputs are fewer, the last one is taken again. Keeps
 * only the keys of the outputs in memory. Throws `EvalError` if a file cannot be read.
 */
export async function joinAnswers(
  files: { readonly references: string; readonly outputs: string },
  onPair: (reference: AnswerRow, output: AnswerRow) => void,
): Promise<JoinCounts> {
  const counts = { references: 0, outputs: 0, referencesWithoutOutput: 0, outputsWithoutReference: 0, unreadable: 0 };
  const unpaired: UnpairedRow[] = [];
  const name = (file: UnpairedRow['file'], { line, role, question }: FoundRow): void => {
    if (unpaired.length < mostNamed) unpaired.push({ file, line, role, question });
  };
  const places = new Map<string, Place[]>();
  const onUnreadable = (): void => void (counts.unreadable += 1);
  for await (const found of rowsOf(files.outputs, onUnreadable)) {
    counts.outputs += 1;
    const key = keyOf(found);
    const known = places.get(key);
    const { offset, length, line } = found;
    if (known === undefined) places.set(key, [{ offset, length, line }]);
    else known.push({ offset, length, line });
  }
  const used = new Map<string, number>();
  const outputs = await openFile(files.outputs);
  try {
    for await (const found of rowsOf(files.references, onUnreadable)) {
      counts.references += 1;
      const key = keyOf(found);
      const listed = places.get(key) ?? [];
      const at = used.get(key) ?? 0;
      const place = listed[Math.min(at, listed.length - 1)];
      used.set(key, at + 1);
      if (place === undefined) {
        counts.referencesWithoutOutput += 1;
        name('references', found);
      } else onPair(found, await readRow(outputs, place));
    }
    for (const [key, listed] of places) {
      for (const place of listed.slice(used.get(key) ?? 0)) {
        counts.outputsWithoutReference += 1;
        if (unpaired.length < mostNamed) name('outputs', { ...(await readRow(outputs, place)), ...place });
      }
    }
  } finally {
    await outputs.close();
  }
  return { ...counts, unpaired };
}

interface Place {
  readonly offset: number;
  readonly length: number;
  readonly line: number;
}

type FoundRow = AnswerRow & Place;

function keyOf({ role, question }: AnswerRow): string {
  return `${role}\u{0}${question}`;
}

async function readRow(handle: FileHandle, { offset, length }: Place): Promise<AnswerRow> {
  const { buffer } = await handle.read(Buffer.alloc(length), 0, length, offset);
  const read = parseRow(buffer.toString('utf8'));
  if (read === undefined)
    throw new EvalError('data', 'The file of outputs has changed while it was read. Start again.');
  return read;
}

/** Rows of a file in their order; calls `onUnreadable` for each that is not one. */
export async function* rowsOf(file: string, onUnreadable: () => void): AsyncGenerator<FoundRow> {
  let line = 0;
  for await (const { text, ...place } of linesOf(file)) {
    line += 1;
    if (text.trim() === '') continue;
    const read = parseRow(text);
    if (read === undefined) onUnreadable();
    else yield { ...read, ...place, line };
  }
}

function parseRow(text: string): AnswerRow | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\u{FEFF}/u, ''));
  } catch {
    return undefined;
  }
  const parsed = row.safeParse(value);
  if (!parsed.success) return undefined;
  const question = questionFields.map((field) => parsed.data[field]).find((each) => typeof each === 'string');
  const answers = answerFields.map((field) => texts.safeParse(parsed.data[field]).data).find(Boolean);
  if (question === undefined || answers === undefined) return undefined;
  return { role: parsed.data.role.trim(), question: question.trim(), answers, fields: parsed.data };
}

/** Lines of a file with their places in bytes. */
async function* linesOf(file: string): AsyncGenerator<{ text: string; offset: number; length: number }> {
  const handle = await openFile(file);
  let held: Buffer = Buffer.alloc(0);
  let offset = 0;
  try {
    for await (const chunk of createReadStream(file, { fd: handle, autoClose: false })) {
      held = Buffer.concat([held, chunk as Buffer]);
      let start = 0;
      for (let end = held.indexOf(10); end >= 0; end = held.indexOf(10, start)) {
        yield { text: held.toString('utf8', start, end), offset: offset + start, length: end - start };
        start = end + 1;
      }
      held = held.subarray(start);
      offset += start;
      if (held.length > longestRowBytes)
        throw new EvalError('data', `${file} has a row of over 16 MiB. Give a file with one JSON object a line.`);
    }
  } finally {
    await handle.close();
  }
  if (held.length > 0) yield { text: held.toString('utf8'), offset, length: held.length };
}

async function openFile(file: string): Promise<FileHandle> {
  return open(file, 'r').catch((cause: unknown) => {
    throw new EvalError('data', `${file} cannot be read. Check the path.`, cause);
  });
}
