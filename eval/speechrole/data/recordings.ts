import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { z } from 'zod';
import { hashFile } from '../../../voices/runtime/hash.ts';
import { writeFileAtomic } from '../../../voices/runtime/write-file-atomic.ts';
import type { DialogueSample } from './test-data.ts';

/** Known hashes by path, valid while size and times of the file stay as they were. */
const cacheSchema = z.record(z.string(), z.object({ stamp: z.string(), sha256: z.string() }));

/**
 * Hashes every recording of the samples: size and SHA-256, by sample, side and turn, so that the data may move. A missing
 * recording counts as such. Hashes of unchanged files come from the cache file.
 */
export async function recordingsHash(samples: readonly DialogueSample[], cacheFile: string): Promise<string> {
  const known = await readFile(cacheFile, 'utf8')
    .then((text) => cacheSchema.parse(JSON.parse(text)))
    .catch((): z.infer<typeof cacheSchema> => ({}));
  const current: z.infer<typeof cacheSchema> = {};
  const hash = createHash('sha256');
  for (const { id, input, target } of samples) {
    for (const [side, turns] of [['user', input.turns] as const, ['role', target.turns] as const]) {
      for (const [turn, { speech }] of turns.entries()) {
        const facts = speech === null ? undefined : await stat(speech).catch(() => undefined);
        if (speech === null || facts === undefined) {
          hash.update(JSON.stringify([id, side, turn, null]));
          continue;
        }
        const stamp = [facts.size, facts.mtimeMs, facts.ctimeMs].join(' ');
        const cached = known[speech];
        const sha256 = cached?.stamp === stamp ? cached.sha256 : await hashFile(speech);
        current[speech] = { stamp, sha256 };
        hash.update(JSON.stringify([id, side, turn, facts.size, sha256]));
      }
    }
  }
  await writeFileAtomic(cacheFile, JSON.stringify(current));
  return hash.digest('hex');
}
