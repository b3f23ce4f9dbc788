import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { record } from '../../rigs/serve-rig.ts';
import { testFolder } from '../../fakes/test-folder.ts';

const folder = testFolder();
const main = path.resolve('server/main.ts');

/** Runs the real program to its end. */
function dramatis(...args: readonly string[]): Promise<{ readonly status: number; readonly said: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [main, ...args], { cwd: folder }, (fault, out, err) => {
      resolve({ status: typeof fault?.code === 'number' ? fault.code : 0, said: out + err });
    });
  });
}

describe('dramatis serve', () => {
  it('prints what its preset needs, and closes its sessions and exits with 0 on SIGTERM', async () => {
    const flags = ['--preset', 'gpt-4o-audio', '--port', '0', '--data-dir', folder, '--workers', '1'];
    const child = spawn(process.execPath, [main, 'serve', ...flags, '--log-level', 'error'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      let printed = '';
      child.stdout.on('data', (piece: Buffer) => (printed += piece.toString()));
      await expect.poll(() => printed, { timeout: 50_000 }).toContain('Ctrl-C');
      // The lines are wrapped to fit the terminal.
      expect(printed.replaceAll(/\s+/g, ' ')).toContain(
        'gpt-4o-audio-preview-2024-12-17 was discontinued on 2026-05-07; the preset uses its successor, gpt-audio-1.5',
      );
      expect(printed).toContain('GPT-4o Audio needs a key of OpenAI in OPENAI_API_KEY');
      const url = /http:\/\/\S+/.exec(printed)?.[0] ?? expect.fail(`no address in: ${printed}`);
      const wire = record(new WebSocket(`${url.replace('http', 'ws')}/v1/realtime`));
      await wire.until('session.created');
      const exit = once(child, 'exit');
      child.kill('SIGTERM');
      expect(await wire.closed).toEqual({ code: 1001, reason: 'server_stopping' });
      expect(await exit).toEqual([0, null]);
      expect(printed).toContain('Stopping');
    } finally {
      child.kill('SIGKILL');
    }
  }, 60_000);

  it.each([
    // Engines opened by then used to keep the process alive.
    [['--smart-turn', 'nope.onnx'], /smart-turn: its weights are not at nope\.onnx/],
    [
      ['--host', 'nowhere.invalid', '--api-keys', 'a-key-of-sixteen'],
      /nowhere\.invalid is not an address of this machine/,
    ],
  ])('explains why it cannot start, and exits: %j', async (args, said) => {
    expect(await dramatis('serve', '--port', '0', ...args)).toEqual({ status: 1, said: expect.stringMatching(said) });
  });
});

describe('dramatis', () => {
  it.each(['constructor', '__proto__', 'dance'])('prints the commands for the unknown command %s', async (name) => {
    const { status, said } = await dramatis(name);
    expect(status).toBe(2);
    expect(said).toContain(`There is no command "${name}".`);
    expect(said).not.toMatch(/TypeError|\n {4}at /);
  });
});
