import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { extract } from 'tar-stream';
import type { CallOptions } from '../engine.ts';
import { ModelError } from './model-error.ts';

const decompressor = 'bzip2';
const mostBytes = 2 ** 35;

/**
 * Unpacks the entries `keep` of a `.tar.bz2` into a folder: files, or folders that end with a slash, relative to the
 * archive's outermost folder. No file is written outside the folder, for any archive: links are skipped,
 * names with `..` rejected. Needs the program bzip2. Throws `model_corrupt` if the archive is damaged or lacks an
 * entry.
 */
export async function unpack(
  archive: string,
  folder: string,
  keep: readonly string[],
  { signal }: CallOptions,
): Promise<void> {
  const missing = new Set(keep);
  const bzip2 = spawn(decompressor, ['--decompress', '--stdout', '--', archive], {
    signal,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let says = '';
  bzip2.stderr.setEncoding('utf8').on('data', (text: string) => (says = (says + text).slice(-500)));
  const ended = once(bzip2, 'close').catch((cause: unknown) => {
    signal.throwIfAborted();
    throw new ModelError('model_corrupt', 'Unpacking the archive requires bzip2. Install it.', cause);
  });
  // Awaited below, even if reading fails first.
  ended.catch(() => undefined);
  const entries = extract();
  let damage: Error | undefined;
  entries.once('error', (cause) => (damage = cause));
  pipeline(bzip2.stdout, entries).catch(() => undefined);
  let kept = 0;
  try {
    for await (const entry of entries) {
      const { name, type, size = 0 } = entry.header;
      const inside = name.replace(/^(\.\/)?[^/]+\//, '');
      const wanted = keep.find((one) => inside === one || (one.endsWith('/') && inside.startsWith(one)));
      if (type !== 'file' || wanted === undefined) {
        entry.resume();
        continue;
      }
      kept += size;
      if (kept > mostBytes) throw new ModelError('model_corrupt', 'The archive unpacks to more than any model has.');
      await writeInside(folder, inside, entry);
      missing.delete(wanted);
    }
    const [status] = (await ended) as [number | null];
    if (status !== 0) throw corrupt(says.trim());
  } catch (thrown) {
    bzip2.kill();
    const [ending] = await Promise.allSettled([ended]);
    signal.throwIfAborted();
    if (ending.status === 'rejected') throw ending.reason;
    throw damage !== undefined && thrown === damage ? corrupt(says.trim() || damage.message) : thrown;
  }
  if (missing.size > 0) {
    throw new ModelError('model_corrupt', `The archive lacks ${[...missing].join(', ')}: it is another version.`);
  }
}

function corrupt(why: string): ModelError {
  return new ModelError('model_corrupt', `The archive cannot be unpacked: ${why}. Download it again.`);
}

async function writeInside(folder: string, name: string, body: AsyncIterable<Buffer>): Promise<void> {
  const place = path.resolve(folder, name);
  const isInside = place.startsWith(path.resolve(folder) + path.sep);
  if (!isInside || name.includes('\\') || name.includes('\0') || name.split('/').includes('..')) {
    throw new ModelError('model_corrupt', 'The archive contains a path outside its folder. Do not trust it.');
  }
  await mkdir(path.dirname(place), { recursive: true, mode: 0o700 });
  const file = await open(place, 'w', 0o600);
  try {
    for await (const block of body) await file.write(block);
    await file.datasync();
  } finally {
    await file.close();
  }
}
