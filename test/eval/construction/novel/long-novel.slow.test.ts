import { once } from 'node:events';
import { open, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { openScratch } from '../../scratch.ts';
import { roleTable } from './novel-script.ts';

const story = path.resolve(import.meta.dirname, '../books-in-public-domain/a-scandal-in-bohemia.txt');
const megabytes = 50;

it('a novel of 50 MB is built in a heap of 128 MiB, of which the text takes 50', async () => {
  await using scratch = await openScratch();
  const [input, roles] = [path.join(scratch.path, 'long.txt'), path.join(scratch.path, 'roles.json')];
  const chapter = await readFile(story, 'utf8');
  const file = await open(input, 'w');
  let size = 0;
  for (let number = 1; size < megabytes * 2 ** 20; number += 1)
    size += (await file.write(`\n\nCHAPTER ${number}\n\n${chapter}`)).bytesWritten;
  await file.close();
  await writeFile(roles, roleTable('Holmes', 'cold', 'terse'));
  const worker = new Worker(new URL('./long-novel-worker.ts', import.meta.url), {
    workerData: { input, roles, folder: path.join(scratch.path, 'built') },
    resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 },
  });
  const [told] = (await once(worker, 'message')) as [{ stopped: string | null; chunks: number; scored: number }];
  expect(told.stopped).toBeNull();
  expect(told.chunks).toBeGreaterThan(8_000);
  expect(told.scored).toBeGreaterThan(4_000);
  await worker.terminate();
}, 120_000);
