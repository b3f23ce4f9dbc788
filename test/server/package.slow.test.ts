import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { testFolder } from '../fakes/test-folder.ts';

const run = promisify(execFile);
const folder = testFolder();

const dependencies = path.resolve('node_modules');
const installed = path.join(folder, 'node_modules', 'dramatis');
const command = path.join(installed, 'server', 'bin.js');

/** A script of a user: asks by text and prints the answer. */
const script = `
import { openTalk } from 'dramatis/client';
const speaker = { isRunning: true, isPlaying: false, play() {}, complete() {}, flush: async () => new Map(), close() {} };
const talk = openTalk({ url: process.argv[2], character: 'sherlock-holmes', speaker: async () => speaker });
const content = [{ type: 'input_text', text: 'Who are you?' }];
for await (const event of talk.events) {
  if (event.type === 'connection.open') {
    talk.send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } });
    talk.send({ type: 'response.create' });
  }
  if (event.type !== 'response.done') continue;
  console.log(event.response.output[0].content[0].transcript);
  talk.close();
}
`;

describe('the package of npm', () => {
  /** Name of the tarball. */
  let tarball = '';

  beforeAll(async () => {
    const packed = await run('npm', ['pack', '--silent', '--pack-destination', folder]);
    tarball = path.join(folder, packed.stdout.trim().split('\n').at(-1) ?? '');
    await mkdir(installed, { recursive: true });
    await run('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1']);
    for (const name of await readdir(dependencies)) {
      const place = path.join(folder, 'node_modules', name);
      if (!name.startsWith('.')) await symlink(path.join(dependencies, name), place);
    }
  }, 240_000);

  it('is at most 10 MB, and packing it leaves nothing in the clone', async () => {
    expect((await stat(tarball)).size).toBeLessThan(10_000_000);
    expect(existsSync('dist')).toBe(false);
  });

  it('installed in an empty folder, it serves, and a script with dramatis/client talks to it', async () => {
    const child = spawn(process.execPath, [command, 'serve', '--port', '0', '--workers', '1'], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      let printed = '';
      child.stdout.on('data', (piece: Buffer) => (printed += piece.toString()));
      await expect.poll(() => printed, { timeout: 110_000 }).toContain('Ctrl-C');
      const url = /http:\/\/\S+/.exec(printed)?.[0] ?? expect.fail(`no address in: ${printed}`);
      await writeFile(path.join(folder, 'talk.mjs'), script);
      const talked = await run(process.execPath, ['talk.mjs', url], { cwd: folder });
      expect(talked.stdout).toContain('Holmes');
      const exit = once(child, 'exit');
      child.kill('SIGTERM');
      expect(await exit).toEqual([0, null]);
    } finally {
      child.kill('SIGKILL');
    }
  }, 180_000);

  it('has types for dramatis/client', async () => {
    const text = `import { openTalk } from 'dramatis/client';\nexport const talk: number = openTalk;\n`;
    await writeFile(path.join(folder, 'user.ts'), text);
    const compiler = path.join(dependencies, 'typescript', 'bin', 'tsc');
    const flags = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'esnext', 'user.ts'];
    const said = await run(process.execPath, [compiler, ...flags], { cwd: folder }).catch((fault: unknown) => fault);
    expect(said).toMatchObject({
      stdout: expect.stringMatching(/^user\.ts\(2,\d+\): error TS2322: Type '\(options: TalkOptions\) => Talk'/),
    });
    expect((said as { stdout: string }).stdout.trim().split('\n')).toHaveLength(1);
  }, 30_000);
});
