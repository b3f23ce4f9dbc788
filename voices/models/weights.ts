import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { EngineError } from '../engine.ts';

/** A file, or a folder, of weights that the user brings. */
export const weightsSchema = z.strictObject({
  /** Absolute, or relative to the engines file. */
  path: z.string().min(1),
  /** Lower-case hex; see `hashOf`. Nothing is loaded without: the error then says what it is. */
  sha256: z
    .string()
    .regex(/^([0-9a-f]{64})?$/i, 'a SHA-256: 64 hexadecimal digits')
    .default(''),
});

export type Weights = z.infer<typeof weightsSchema>;

/**
 * Makes sure that all weights are what the user trusts, and returns where they are. Native engines end the process on a file
 * that is damaged, so none may reach them unchecked. `ENGINE_MISSING` where one is missing, is not what it should be, or
 * nobody has said what it should be. `name` is the engine's.
 */
export async function checkWeights(
  name: string,
  weights: Readonly<Record<string, Weights | undefined>>,
): Promise<Record<string, string>> {
  const found: [string, string][] = [];
  const unpinned: string[] = [];
  for (const [part, wanted] of Object.entries(weights)) {
    if (wanted === undefined) continue;
    const { bytes, sha256 } = await hashOf(wanted.path).catch((cause: unknown) => {
      throw missing(name, `"${part}" cannot be read at ${wanted.path}: get the weights, or correct the path`, cause);
    });
    if (bytes === 0) throw missing(name, `"${part}" is empty at ${wanted.path}: get it again`);
    if (wanted.sha256 === '') unpinned.push(`"${part}": ${sha256}`);
    else if (wanted.sha256.toLowerCase() !== sha256) {
      const why = `has ${bytes} bytes with the SHA-256 ${sha256}, not ${wanted.sha256.toLowerCase()}`;
      throw missing(
        name,
        `"${part}" at ${wanted.path} ${why}: it is damaged or cut short, so get it again; or it is another version, so set "sha256" to that of the file you trust`,
      );
    }
    found.push([part, wanted.path]);
  }
  if (unpinned.length === 0) return Object.fromEntries(found);
  throw missing(name, `say which weights you trust. "sha256" of what is there now is, for ${unpinned.join(', ')}`);
}

/**
 * The SHA-256 of a file, read as a stream; of a folder that of its list, sorted by path, with a line `HASH  ./PATH` for each
 * file: `find . -type f | LC_ALL=C sort | xargs sha256sum | sha256sum`.
 */
export async function hashOf(place: string): Promise<{ readonly bytes: number; readonly sha256: string }> {
  if (!(await stat(place)).isDirectory()) return hashOfFile(place);
  const entries = await readdir(place, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => path.relative(place, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'))
    .toSorted((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
  const list = createHash('sha256');
  let bytes = 0;
  for (const file of files) {
    const hashed = await hashOfFile(path.join(place, file));
    list.update(`${hashed.sha256}  ./${file}\n`);
    bytes += hashed.bytes;
  }
  return { bytes, sha256: list.digest('hex') };
}

async function hashOfFile(file: string): Promise<{ readonly bytes: number; readonly sha256: string }> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const block of createReadStream(file, { highWaterMark: 1 << 20 })) {
    hash.update(block as Buffer);
    bytes += (block as Buffer).length;
  }
  return { bytes, sha256: hash.digest('hex') };
}

function missing(name: string, detail: string, cause?: unknown): EngineError {
  return new EngineError(name, 'ENGINE_MISSING', detail, cause);
}
