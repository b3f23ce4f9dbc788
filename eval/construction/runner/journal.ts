import { hash } from 'node:crypto';
import { open, type FileHandle } from 'node:fs/promises';
import { z } from 'zod';
import { EvalError } from '../../eval-error.ts';
import { openLines } from '../../run-log.ts';
import { linesIn } from './lines.ts';
import type { CallKey } from './model.ts';

const header = z.object({ journal: z.literal(1), build: z.string() });

const entry = z.object({
  stage: z.string(),
  record: z.string(),
  part: z.string(),
  attempt: z.string(),
  /** SHA-256 of messages, sampling and model: an answer to something else is not used. */
  input: z.string(),
  prompt: z.string(),
  asked: z.string(),
  answered: z.string().nullable(),
  sampling: z.record(z.string(), z.number()),
  finish: z.enum(['stop', 'length', 'filter']),
  reply: z.string(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  /** US dollars. */
  cost: z.number(),
  ms: z.number(),
});

/** One answered call. */
export type JournalEntry = z.infer<typeof entry>;

/** Append-only file of all answered calls of a build. */
export interface Journal {
  /** US dollars of all entries when the journal was opened. */
  readonly spentDollars: number;
  find(key: CallKey, input: string): Promise<JournalEntry | undefined>;
  /** Resolves when the entry is with the operating system: killing this process can no longer lose it. */
  append(entry: JournalEntry): Promise<void>;
  close(): Promise<void>;
}

/** 48 bits of a hash: entries are found by it, and compared by their whole key. */
function slotOf({ stage, record, part, attempt }: CallKey): number {
  return hash('sha1', JSON.stringify([stage, record, part, attempt]), 'buffer').readUIntBE(0, 6);
}

/**
 * Opens the journal of a build, after cutting off a torn last line. Only the places of entries are kept in memory.
 * Throws an `EvalError` if it belongs to another build.
 */
export async function openJournal(file: string, build: string): Promise<Journal> {
  const lines = await openLines(file);
  const places = new Map<number, { readonly at: number; readonly bytes: number }>();
  let size = 0;
  let spentDollars = 0;
  const reader = await open(file, 'r');
  let number = 0;
  for await (const { text, at, bytes } of linesIn(file)) {
    if (number === 0) checkHeader(file, text, build);
    else {
      const read = readEntry(file, text, number);
      spentDollars += read.cost;
      places.set(slotOf(read), { at, bytes });
    }
    number += 1;
    size = at + bytes;
  }
  const write = async (value: unknown): Promise<{ at: number; bytes: number }> => {
    const bytes = Buffer.byteLength(JSON.stringify(value)) + 1;
    // Lines are written in the order of these calls, so the place is known before the write.
    const at = size;
    size += bytes;
    await lines.append(value);
    return { at, bytes };
  };
  if (number === 0) await write({ journal: 1, build });
  return {
    spentDollars,
    async find(key, input) {
      const place = places.get(slotOf(key));
      if (place === undefined) return undefined;
      const found = readEntry(file, await textAt(reader, place), 0);
      return found.input === input && slotOf(found) === slotOf(key) && found.record === key.record ? found : undefined;
    },
    async append(made) {
      places.set(slotOf(made), await write(made));
    },
    async close() {
      await reader.close();
      await lines.close();
    },
  };
}

async function textAt(handle: FileHandle, { at, bytes }: { at: number; bytes: number }): Promise<string> {
  const buffer = Buffer.allocUnsafe(bytes - 1);
  await handle.read(buffer, 0, bytes - 1, at);
  return buffer.toString('utf8');
}

function checkHeader(file: string, line: string, build: string): void {
  let found: string | undefined;
  try {
    found = header.parse(JSON.parse(line)).build;
  } catch {
    found = undefined;
  }
  if (found !== build)
    throw new EvalError(
      'log',
      `${file} is not the journal of a build "${build}"${found === undefined ? '' : ` but of "${found}"`}. Use another folder.`,
    );
}

function readEntry(file: string, line: string, number: number): JournalEntry {
  try {
    return entry.parse(JSON.parse(line));
  } catch (cause) {
    throw new EvalError('log', `${file}:${number + 1} is not a line of a journal. Undo the last edit.`, cause);
  }
}
