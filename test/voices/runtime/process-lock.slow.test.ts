import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { takeProcessLock } from '../../../voices/runtime/process-lock.ts';
import { testFolder } from '../../fakes/test-folder.ts';

async function lockFile(): Promise<string> {
  const folder = testFolder();
  return path.join(folder, 'deep', 'martha.lock');
}

const refused = (holder: string): Error => new Error(`held by ${holder}`);

/** A process that reports when it has the lock, and keeps running; `code` may use `file` and `take`. */
async function holder(file: string) {
  const place = new URL('../../../voices/runtime/process-lock.ts', import.meta.url).href;
  const code = `const { takeProcessLock } = await import(${JSON.stringify(place)});
    globalThis.kept = await takeProcessLock(${JSON.stringify(file)}, (pid) => new Error(String(pid)));
    console.log('held'); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(createInterface({ input: child.stdout }), 'line');
  return child;
}

describe('process lock', () => {
  it('the process lock names its owner, and is free once the owner was killed', async () => {
    const file = await lockFile();
    const other = await holder(file);
    await expect(takeProcessLock(file, refused)).rejects.toThrow(`held by Process ${other.pid}`);
    other.kill('SIGKILL');
    await once(other, 'exit');
    using _lock = await takeProcessLock(file, refused);
    await expect(takeProcessLock(file, refused)).rejects.toThrow(`held by Process ${process.pid}`);
  });

  it('the process lock is free again after its release', async () => {
    const file = await lockFile();
    for (let turn = 0; turn < 2; turn += 1) {
      using _lock = await takeProcessLock(file, refused);
    }
    const taken = await Promise.allSettled(Array.from({ length: 8 }, () => takeProcessLock(file, refused)));
    expect(taken.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('of many concurrent attempts one gets the process lock', async () => {
    const file = await lockFile();
    const first = await holder(file);
    // Several processes take over the lock of a killed one at the same time.
    first.kill('SIGKILL');
    await once(first, 'exit');
    const code = `const { takeProcessLock } = await import(${JSON.stringify(new URL('../../../voices/runtime/process-lock.ts', import.meta.url).href)});
      try { globalThis.kept = await takeProcessLock(${JSON.stringify(file)}, (pid) => new Error('held')); console.log('held'); }
      catch (fault) { console.log(fault.message === 'held' ? 'refused' : String(fault)); }
      process.stdin.resume();`;
    const answers = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
          stdio: ['pipe', 'pipe', 'inherit'],
        });
        onTestFinished(() => void child.kill('SIGKILL'));
        const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
        return line;
      }),
    );
    expect(answers.toSorted()).toEqual(['held', 'refused', 'refused', 'refused']);
  });
});
