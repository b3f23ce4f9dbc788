import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { tryRecorder } from '../../../server/cli/talk/audio-tools.ts';
import { testFolder } from '../../fakes/test-folder.ts';

const folder = testFolder();
beforeEach(() => vi.stubEnv('PATH', `${folder}:${process.env['PATH']}`));
afterEach(() => vi.unstubAllEnvs());

const recorder = (script: string) => writeFile(path.join(folder, 'arecord'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });

describe('the microphone of the doctor', () => {
  it('works if the program gives audio', async () => {
    await recorder('exec cat /dev/zero');
    await expect(tryRecorder('arecord', AbortSignal.timeout(20_000))).resolves.toBeUndefined();
  });

  it('fails if the program is installed but has no device, or hears nothing', async () => {
    await recorder('echo "no such device" >&2; exit 1');
    await expect(tryRecorder('arecord', AbortSignal.timeout(20_000))).rejects.toThrow(/arecord/);
    await recorder('exit 0');
    await expect(tryRecorder('arecord', AbortSignal.timeout(20_000))).rejects.toThrow('arecord has ended');
  });
});
