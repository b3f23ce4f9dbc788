import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { z } from 'zod';

const journalSchema = z.strictObject({
  url: z.string(),
  /** The server's `ETag`, or `Last-Modified`. */
  version: z.string(),
  bytes: z.number().int().min(0),
  pieceBytes: z.number().int().positive(),
  /** Places of the pieces that are on disk. */
  done: z.array(z.number().int().min(0)),
});

/** How far a download has come; kept beside its file, so that it goes on after a kill. */
export type DownloadJournal = z.infer<typeof journalSchema>;

/** What was left of a download; undefined where nothing was, or nothing that can be read. */
export async function readJournal(file: string): Promise<DownloadJournal | undefined> {
  try {
    return journalSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    return undefined;
  }
}

/** In one step: a kill leaves the old or the new. */
export async function writeJournal(file: string, journal: DownloadJournal): Promise<void> {
  await writeFile(`${file}.new`, JSON.stringify(journal));
  await rename(`${file}.new`, file);
}

/** Forgets a download: its bytes, too. */
export async function forgetDownload(part: string): Promise<void> {
  await Promise.all([part, `${part}.json`, `${part}.json.new`].map((file) => rm(file, { force: true })));
}
