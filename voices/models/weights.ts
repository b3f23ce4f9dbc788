import { createHash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { EngineError } from '../engine.ts';
import { hashFile } from '../runtime/files.ts';

/** A file or folder of weights that the user provides. */
export const weightsSchema = z.strictObject({
  /** Absolute, or relative to the engines file. */
  path: z.string().min(1),
  /** Lower-case hex; see `hashOf`. Without it nothing is loaded: the error then states the hash found. */
  sha256: z
    .string()
    .regex(/^([0-9a-f]{64})?$/i, 'a SHA-256: 64 hexadecimal digits')
    .default(''),
});

export type Weights = z.infer<typeof weightsSchema>;

/**
 * Verifies all weights against the hashes the user trusts, and returns their paths. Native engines crash the process on
 * a damaged file, so none may be loaded unchecked. Throws `ENGINE_MISSING` if a file is missing, has another hash, or
 * has no hash configured. `name` is the engine's name.
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
      throw missing(
        name,
        `"${part}" cannot be read at ${wanted.path}: download the weights, or correct the path`,
        cause,
      );
    });
    if (bytes === 0) throw missing(name, `"${part}" is empty at ${wanted.path}: download it again`);
    if (wanted.sha256 === '') unpinned.push(`"${part}": ${sha256}`);
    else if (wanted.sha256.toLowerCase() !== sha256) {
      const why = `has ${bytes} bytes with the SHA-256 ${sha256}, not ${wanted.sha256.toLowerCase()}`;
      throw missing(
        name,
        `"${part}" at ${wanted.path} ${why}: it is damaged or truncated, so download it again; or it is another version, so set "sha256" to that of the file you trust`,
      );
    }
    found.push([part, wanted.path]);
  }
  if (unpinned.length === 0) return Object.fromEntries(found);
  throw missing(
    name,
    `state the SHA-256 of the weights that you trust in "sha256". The files have these now: ${unpinned.join(', ')}`,
  );
}

/**
 * SHA-256 of a file, read as a stream. For a folder it is the hash of its list, sorted by path, with a line `HASH
 * ./PATH` for each file: `find . -type f | LC_ALL=C sort | xargs sha256sum | sha256sum`.
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
  return { bytes: (await stat(file)).size, sha256: await hashFile(file) };
}

function missing(name: string, detail: string, cause?: unknown): EngineError {
  return new EngineError(name, 'ENGINE_MISSING', detail, cause);
}
