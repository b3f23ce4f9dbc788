import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { lockDataDir, makeDataDir } from '../../../server/config/data-dir.ts';
import { testFolder } from '../../fakes/test-folder.ts';

/** Another process that owns the folder, until it is killed. */
async function ownerOf(folder: string) {
  const module = path.resolve(import.meta.dirname, '../../../server/config/data-dir.ts');
  const script = `
    const { lockDataDir } = await import(${JSON.stringify(module)});
    lockDataDir(process.argv[1]);
    process.stdout.write('owned');
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return child;
}

describe('data folder', () => {
  it('belongs to one server: a second one names the process that has it, and gets it when that was killed', async () => {
    const folder = testFolder();
    const owner = await ownerOf(folder);
    expect(() => lockDataDir(folder)).toThrow(
      `${folder}: another Dramatis server uses this data folder (process ${owner.pid}). Stop it, or choose another folder with --data-dir`,
    );
    owner.kill('SIGKILL');
    await once(owner, 'exit');
    lockDataDir(folder)();
    lockDataDir(folder)();
  });

  it('that exists but cannot be written is an error with a remedy', () => {
    expect(() => makeDataDir('/proc/self')).toThrow(
      /^\/proc\/self: the folder cannot be written \(\w+\)\. Choose another with --data-dir/,
    );
  });
});
