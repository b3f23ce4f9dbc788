import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { z } from 'zod';

const journalSchema = z.strictObject({
  url: z.string(),
  /** The server's `ETag`, or `Last-Modified`. */
  version: z.string(),
  bytes: z.number().int().min(0),
  pieceBytes: z.number().int().positive(),
  /** Indices of the pieces that are on disk. */
  done: z.array(z.number().int().min(0)),
});

/** Progress of a download; kept next to its file, so that it resumes after a kill. */
export type DownloadJournal = z.infer<typeof journalSchema>;

/** Reads the journal of an interrupted download; undefined if there is none, or it cannot be read. */
export async function readJournal(file: string): Promise<DownloadJournal | undefined> {
  try {
    return journalSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    return undefined;
  }
}

/** Atomic: a kill leaves either the old or the new journal. */
export async function writeJournal(file: string, journal: DownloadJournal): Promise<void> {
  await writeFile(`${file}.new`, JSON.stringify(journal));
  await rename(`${file}.new`, file);
}

/** Deletes the journal and the partial file of a download. */
export async function forgetDownload(part: string): Promise<void> {
  await Promise.all([part, `${part}.json`, `${part}.json.new`].map((file) => rm(file, { force: true })));
}
