import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { writeFileAtomic } from '../../voices/runtime/files.ts';

/** Places for the asks of one kind, which all go to one endpoint. */
export interface AskPlaces {
  /** Asks at a time: of all workers together, or of each worker if `isEach`. */
  readonly atOnce: number;
  /** True if each worker has its own endpoint, such as a server under test that it starts itself. */
  readonly isEach: boolean;
}

/** Facts about a run for its workers. Contains names of environment variables, never keys. */
export interface RunFacts {
  readonly id: string;
  readonly work: 'eval' | 'build';
  /** Version of Dramatis; workers of another version refuse the run. */
  readonly version: string;
  /** Absolute path of the run's folder, which workers need if the run has recordings. */
  readonly folder: string;
  /** Input that a worker opens: header and configuration of an evaluation, the models of a build. */
  readonly about: unknown;
  readonly kinds: Readonly<Record<string, AskPlaces>>;
  /** A worker that has not renewed its hold on an ask for this long counts as dead. */
  readonly leaseMs: number;
  readonly maxDollars: number | null;
}

/** A piece of work for a worker. */
export interface Ask {
  readonly kind: string;
  /** Identity of the work within its run: the same key is the same work. */
  readonly key: readonly string[];
  /** Input of a worker for it, as JSON. */
  readonly work: unknown;
}

/** A failure as it travels: enough to log it as if it had happened here. */
export interface AskFailure {
  readonly code: string | null;
  readonly message: string;
  /** Set if it was an `EngineError`: its engine and its detail. */
  readonly engine?: { readonly name: string; readonly detail: string };
}

/** Outcome of an ask. */
export interface AskResult {
  /** Id of the ask; of its own for a worker that has stopped. */
  readonly id: string;
  readonly value?: unknown;
  readonly failure?: AskFailure;
  /** Says that a worker does nothing more, since the run has cost `maxDollars`; the ask has not been done. */
  readonly stopped?: { readonly message: string; readonly maxDollars: number | null };
  /** US dollars. */
  readonly dollars: number;
}

/** Workers that die of an ask, after which it counts as failed. */
export const mostDeaths = 3;

/** Returns the id of an ask, which is the id of its job, too. */
export function askId({ kind, key }: Pick<Ask, 'kind' | 'key'>): string {
  return createHash('sha256')
    .update(JSON.stringify([kind, ...key]))
    .digest('base64url')
    .slice(0, 27);
}

/** File with the id of a run that is under way, in its folder: a run that is continued finds its asks by it. */
export function runIdFile(folder: string): string {
  return path.join(folder, 'run.id');
}

/** Reads the id of the run in a folder, or gives it one. */
export async function readRunId(folder: string): Promise<string> {
  const known = await readFile(runIdFile(folder), 'utf8').catch(() => '');
  if (/^[0-9a-f]{16}$/.test(known.trim())) return known.trim();
  const id = randomBytes(8).toString('hex');
  await writeFileAtomic(runIdFile(folder), `${id}\n`);
  return id;
}
