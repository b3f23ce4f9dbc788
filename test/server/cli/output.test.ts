import { execFile, execFileSync } from 'node:child_process';
import { lstat, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { tellIfSlow } from '../../../server/terminal/text.ts';
import { dramatis } from '../../rigs/command-rig.ts';
import { testFolder } from '../../fakes/test-folder.ts';

const folder = testFolder();
afterEach(() => vi.useRealTimers());

const card = ['export', 'alice', '--format', 'json'];

describe('--out', () => {
  it('follows a link: the link stays, and its file is written', async () => {
    const [file, link] = [path.join(folder, 'real.json'), path.join(folder, 'link.json')];
    await writeFile(file, 'old');
    await symlink(file, link);
    expect((await dramatis('characters', ...card, '--out', link)).status).toBe(0);
    expect((await lstat(link)).isSymbolicLink()).toBe(true);
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ data: { name: 'Alice' } });
  });

  it('writes into a pipe and does not replace it', async () => {
    const pipe = path.join(folder, 'pipe');
    execFileSync('sh', ['-c', `mkfifo '${pipe}'`]);
    const [read] = await Promise.all([readFile(pipe, 'utf8'), dramatis('characters', ...card, '--out', pipe)]);
    expect(JSON.parse(read)).toMatchObject({ data: { name: 'Alice' } });
    expect((await lstat(pipe)).isFIFO()).toBe(true);
  });

  it('writes only the result to standard output if it is -, and the rest to standard error', async () => {
    const { stdout, stderr } = await dramatis('characters', ...card, '--out', '-');
    expect(JSON.parse(stdout)).toMatchObject({ data: { name: 'Alice' } });
    expect(stderr).toContain('Alice, V3');
  });
});

describe('a reader that stops early', () => {
  it('is no fault: nothing is printed about it, and the exit status is 0', async () => {
    const command = `"${process.execPath}" server/main.ts characters export alice --out - | true; echo "\${PIPESTATUS[0]}"`;
    const { stdout, stderr } = await promisify(execFile)('bash', ['-c', command]);
    expect({ stdout, stderr }).toEqual({ stdout: '0\n', stderr: expect.stringMatching(/^-: Alice.*\n$/) });
  });
});

describe('slow work', () => {
  it('is reported on standard error after two seconds', async () => {
    vi.useFakeTimers();
    const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const work = Promise.withResolvers<number>();
    const told = tellIfSlow('Loading …', work.promise);
    await vi.advanceTimersByTimeAsync(1_900);
    expect(said).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(200);
    expect(said).toHaveBeenCalledWith('Loading …\n');
    said.mockRestore();
    work.resolve(7);
    expect(await told).toBe(7);
  });
});
