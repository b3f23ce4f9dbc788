import { existsSync } from 'node:fs';
import type { Config } from '../config/config.ts';
import { copyMemories } from '../memory/store/copied.ts';
import type { AsyncStore } from '../memory/store/operations.ts';
import { MemoryError } from '../memory/store/record.ts';
import { memoryFile, MemoryStore } from '../memory/store/store.ts';
import { openStoreThread } from '../memory/store/store-thread.ts';
import type { PostgresStore } from '../memory/postgres/postgres-store.ts';
import { UsageError } from '../terminal/flags.ts';
import { openProgressBar } from '../terminal/progress-bar.ts';
import { jsonText, printLine } from '../terminal/text.ts';

type PostgresConfig = Pick<Config, 'postgresUrl' | 'memoryKeysUrl'>;

/** Opens the memories of this configuration. Throws `MemoryError` if there are none, or they cannot be read. */
export async function openMemoryStore(config: Config): Promise<AsyncStore> {
  if (config.postgresUrl !== undefined) return openPostgres(config);
  return openStoreThread(existingFile(config));
}

function existingFile({ dataDir }: Config): string {
  const file = memoryFile(dataDir);
  if (existsSync(file)) return file;
  throw new MemoryError('memory_not_found', `There are no memories in ${dataDir}.`);
}

/** Throws if the database does not answer: a command does not wait for it. */
async function openPostgres(config: PostgresConfig): Promise<PostgresStore> {
  const { openPostgresStore } = await import('../memory/postgres/postgres-store.ts');
  let problem: unknown;
  const onChange = (_isThere: boolean, fault?: unknown): unknown => (problem ??= fault);
  const store = await openPostgresStore({ url: urlIn(config), keysUrl: config.memoryKeysUrl, onChange });
  if (store.isThere) return store;
  await store.close();
  throw problem;
}

/** Returns the version of the tables, which opening brings up to date. Throws `MemoryError` if they cannot be used. */
export async function checkPostgres(config: PostgresConfig): Promise<{ readonly version: number }> {
  const store = await openPostgres(config);
  const { version } = store;
  await store.close();
  return { version };
}

/** `dramatis memory copy`: copies all memories from the file to PostgreSQL, or back, and compares both. */
export async function copyAll(config: Config, to: string | undefined, isJson: boolean): Promise<number> {
  if (to !== 'postgres' && to !== 'file')
    throw new UsageError('Say where to: dramatis memory copy --to postgres, or --to file.');
  const postgres = await openPostgres(config);
  let file: MemoryStore | undefined;
  try {
    file = new MemoryStore(to === 'postgres' ? existingFile(config) : memoryFile(config.dataDir));
    const { counts, hash } = await (to === 'postgres' ? copyMemories(file, postgres) : copyMemories(postgres, file));
    const list = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
    if (isJson) printLine(jsonText({ copied: counts, sha256: hash }));
    else printLine(`Copied ${list.join(', ')}; both are the same (SHA-256 ${hash.slice(0, 16)}…).`);
    return 0;
  } finally {
    file?.close();
    await postgres.close();
  }
}

/** `dramatis memory migrate`: brings the tables in PostgreSQL up to date, before the servers are. */
export async function migrateAll(config: Config, isJson: boolean): Promise<number> {
  const { version } = await checkPostgres(config);
  printLine(isJson ? jsonText({ version }) : `The tables in PostgreSQL are up to date (version ${version}).`);
  return 0;
}

/** `dramatis memory seal`: seals what was stored before there were keys. */
export async function sealExisting(config: Config, isJson: boolean): Promise<number> {
  const postgres = await openPostgres(config);
  const bar = openProgressBar({ unit: 'memories' });
  try {
    const sealed = await postgres.sealAll((done, of) => bar.show({ done, of, facts: [] }));
    bar.end();
    if (isJson) printLine(jsonText({ sealed }));
    else printLine(`Sealed ${sealed} memories. Older backups and the log of PostgreSQL still hold them unsealed.`);
    return 0;
  } finally {
    bar.end();
    await postgres.close();
  }
}

function urlIn({ postgresUrl }: PostgresConfig): string {
  if (postgresUrl !== undefined) return postgresUrl;
  throw new UsageError(
    'Set DRAMATIS_POSTGRES_URL to the database, such as postgres://USER:PASSWORD@HOST:5432/DATABASE.',
  );
}
