import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { packageVersion } from '../server/terminal/version.ts';
import type { RunHeader } from './run-log.ts';

/** Builds the first line of a log: the run's facts, with the time, versions and the commit. */
export async function buildHeader(
  facts: Pick<RunHeader, 'task' | 'config' | 'models' | 'prompts' | 'seeds' | 'data'>,
): Promise<RunHeader> {
  return {
    event: 'run',
    log: 1,
    at: new Date().toISOString(),
    versions: { dramatis: packageVersion(), node: process.versions.node },
    commit: await commitOf(),
    ...facts,
  };
}

async function commitOf(): Promise<string | null> {
  try {
    const { stdout } = await promisify(execFile)('git', ['rev-parse', 'HEAD'], { cwd: import.meta.dirname });
    return stdout.trim();
  } catch {
    return null;
  }
}
