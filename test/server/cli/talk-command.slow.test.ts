import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { dramatis } from '../../rigs/command-rig.ts';
import { serve } from '../../rigs/serve-rig.ts';

const run = promisify(execFile);
const main = path.resolve(import.meta.dirname, '../../../server/main.ts');

/** The only programs that the command finds, besides the one that it looks for them with. */
let programs = '';
beforeEach(() => {
  programs = mkdtempSync(path.join(tmpdir(), 'dramatis-talk-'));
  symlinkSync('/usr/bin/which', path.join(programs, 'which'));
  vi.stubEnv('PATH', programs);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(programs, { recursive: true });
});

function install(program: string, script: string): void {
  writeFileSync(path.join(programs, program), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

function isRunning(process_: number): boolean {
  try {
    return process.kill(process_, 0);
  } catch {
    return false;
  }
}

/** A recorder with a device that hears nothing, and a player. */
function installDevices(): void {
  install('arecord', 'exec /bin/sleep 60');
  install('aplay', 'exec /bin/cat >/dev/null');
}

async function talk(character = 'alice') {
  const { url } = await serve();
  return dramatis('talk', '--character', character, '--url', url);
}

describe('the command talk', () => {
  it('fails with what to install if there is no recorder', async () => {
    install('aplay', 'exec /bin/cat >/dev/null');
    const { status, stderr } = await talk();
    expect(status).toBe(1);
    expect(stderr).toMatch(/recorder: no audio recorder was found\. Install SoX \(Debian: apt install sox;/);
  });

  it('fails with what to install if there is no player', async () => {
    install('arecord', 'exec /bin/sleep 60');
    const { status, stderr } = await talk();
    expect(status).toBe(1);
    expect(stderr).toMatch(/player: no audio player was found\. Install SoX/);
  });

  it('fails if the recorder has no microphone', async () => {
    installDevices();
    install('arecord', 'echo "arecord: audio open error: No such file or directory" >&2; exit 1');
    const { status, stderr } = await talk();
    expect(status).toBe(1);
    expect(stderr).toMatch(/microphone: arecord has exited with error code 1\. `dramatis doctor` checks it\.\n$/);
  });

  it('fails if the recorder ends without an error', async () => {
    installDevices();
    install('arecord', 'exit 0');
    const { status, stderr } = await talk();
    expect(status).toBe(1);
    expect(stderr).toMatch(/microphone: arecord has ended\. `dramatis doctor` checks it\.\n$/);
  });

  it('fails on an unknown character, with the ones that there are', async () => {
    installDevices();
    const { status, stderr } = await talk('nobody');
    expect(status).toBe(1);
    expect(stderr).toContain('There is no character "nobody"');
  });

  it('as a process ends with status 1 on an unknown character, and leaves no recorder', async () => {
    installDevices();
    install('arecord', `echo $$ > ${path.join(programs, 'recorder.pid')}; exec /bin/sleep 60`);
    const { url } = await serve();
    const args = [main, 'talk', '--character', 'nobody', '--url', url];
    await expect(run(process.execPath, args)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('There is no character "nobody"'),
    });
    const recorder = Number(readFileSync(path.join(programs, 'recorder.pid'), 'utf8'));
    await expect.poll(() => isRunning(recorder)).toBe(false);
  });
});

describe('the command doctor', () => {
  const soundOf = async (): Promise<unknown[]> => {
    const { stdout } = await dramatis('doctor', '--json');
    const findings = JSON.parse(stdout) as { readonly what: string }[];
    return findings.filter(({ what }) => what.startsWith('audio'));
  };

  it('opens both devices, and says which one does not work', async () => {
    installDevices();
    install('arecord', 'echo "no such device" >&2; exit 1');
    expect(await soundOf()).toMatchObject([
      { what: 'audio recorder', ok: false, says: expect.stringContaining('arecord has exited with error code 1') },
      { what: 'audio player', ok: true, says: 'aplay plays' },
    ]);
  });

  it('says what to install if there is no recorder and no player', async () => {
    const says = expect.stringMatching(/^none found; /);
    const remedy = expect.stringMatching(/^Install SoX/);
    expect(await soundOf()).toMatchObject([
      { what: 'audio recorder', ok: false, says, remedy },
      { what: 'audio player', ok: false, says, remedy },
    ]);
  });
});
