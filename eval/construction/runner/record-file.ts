import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import path from 'node:path';
import { linesIn, type PlacedLine } from './lines.ts';
import type { DataRecord, RecordGroup } from './stage.ts';

/** Writes lines to a draft that takes its name when it is complete: a killed build leaves no half file. */
export interface DraftFile {
  /** Path of the draft itself. */
  readonly draft: string;
  write(text: string): Promise<void>;
  finish(): Promise<void>;
  /** Closes the draft and leaves it. */
  abandon(): Promise<void>;
}

export async function openDraft(file: string): Promise<DraftFile> {
  await mkdir(path.dirname(file), { recursive: true });
  const draft = `${file}.draft`;
  const stream = createWriteStream(draft, { highWaterMark: 256 * 1024 });
  await once(stream, 'open');
  const end = async (): Promise<void> => {
    stream.end();
    await once(stream, 'close');
  };
  return {
    draft,
    async write(text) {
      if (!stream.write(text)) await once(stream, 'drain');
    },
    async finish() {
      await end();
      await rename(draft, file);
    },
    abandon: end,
  };
}

export async function* readRecords(file: string): AsyncGenerator<DataRecord> {
  for await (const { text } of linesIn(file)) yield JSON.parse(text) as DataRecord;
}

/** Finds the records of each key, in the order in which the keys appear; only places are in memory. */
export async function groupsIn(
  file: string,
  groupBy: (record: DataRecord) => string,
): Promise<ReadonlyMap<string, RecordGroup>> {
  const groups = new Map<string, { count: number; readonly ranges: { at: number; bytes: number }[] }>();
  for await (const line of linesIn(file)) {
    const key = groupBy(JSON.parse(line.text) as DataRecord);
    const group = groups.get(key) ?? { count: 0, ranges: [] };
    groups.set(key, group);
    group.count += 1;
    const last = group.ranges.at(-1);
    if (last !== undefined && last.at + last.bytes === line.at) last.bytes += line.bytes;
    else group.ranges.push(placeOf(line));
  }
  return new Map(
    [...groups].map(([key, { count, ranges }]) => [
      key,
      { count, [Symbol.asyncIterator]: () => recordsAt(file, ranges) },
    ]),
  );
}

async function* recordsAt(
  file: string,
  ranges: readonly { readonly at: number; readonly bytes: number }[],
): AsyncGenerator<DataRecord> {
  for (const range of ranges) for await (const { text } of linesIn(file, range)) yield JSON.parse(text) as DataRecord;
}

function placeOf({ at, bytes }: PlacedLine): { at: number; bytes: number } {
  return { at, bytes };
}
