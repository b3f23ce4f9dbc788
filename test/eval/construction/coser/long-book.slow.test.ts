import { once } from 'node:events';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { openScratch } from '../../scratch.ts';

const story = path.resolve(import.meta.dirname, '../books-in-public-domain/a-scandal-in-bohemia.txt');
/** `DRAMATIS_TEST_BOOK_MEGABYTES=50` for a book as long as they get. */
const megabytes = Number(process.env['DRAMATIS_TEST_BOOK_MEGABYTES'] ?? 2);
/** The text itself, and as much again while it is decoded. */
const heapMebibytes = 20 + 2 * megabytes;

it(`a book of ${megabytes} MB goes through the build coser in a heap of ${heapMebibytes} MiB, and its file is larger`, async () => {
  await using scratch = await openScratch();
  const input = path.join(scratch.path, 'long.txt');
  const chapter = await readFile(story, 'utf8');
  const count = Math.ceil((megabytes * 2 ** 20) / Buffer.byteLength(chapter));
  await writeFile(input, Array.from({ length: count }, (_, at) => `\n\nCHAPTER ${at + 1}\n\n${chapter}`).join(''));
  const folder = path.join(scratch.path, 'built');
  await mkdir(folder);
  const worker = new Worker(new URL('./long-book-worker.ts', import.meta.url), {
    workerData: { input, folder },
    resourceLimits: { maxOldGenerationSizeMb: heapMebibytes, maxYoungGenerationSizeMb: 4 },
  });
  const [told] = (await once(worker, 'message')) as [{ stopped: string | null; plots: number; books: number }];
  await worker.terminate();
  expect(told).toMatchObject({ stopped: null, books: 1 });
  expect(told.plots).toBeGreaterThan(400 * megabytes);
  expect((await stat(path.join(folder, 'books', 'long.json'))).size).toBeGreaterThan(2.5e6 * megabytes);
}, 300_000);
