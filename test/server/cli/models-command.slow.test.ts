import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished, vi } from 'vitest';
import { hashOf } from '../../../voices/runtime/files.ts';
import { openWeightsServer, weightsOf } from '../../fakes/models/weights-server.ts';

const run = promisify(execFile);
const weights = weightsOf(48 * 2 ** 20);

it('resumes a killed models pull and installs the file byte for byte', async () => {
  const server = await openWeightsServer(weights);
  const folder = await mkdtemp(path.join(tmpdir(), 'dramatis-models-command-'));
  onTestFinished(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });
  const catalogue = path.join(folder, 'catalogue.json');
  const download = { file: 'tiny.onnx', urls: [`${server.url}/tiny.onnx`], sha256: hashOf(weights) };
  const facts = { title: 'Tiny', use: 'tests', role: 'quality', languages: [], licence: 'none' };
  await writeFile(
    catalogue,
    JSON.stringify([{ id: 'tiny', ...facts, downloads: [download], files: { model: 'tiny.onnx' } }]),
  );
  const dataDir = path.join(folder, 'data');
  const command = (...args: string[]): string[] => {
    return ['server/main.ts', 'models', ...args, '--data-dir', dataDir, '--model-catalogue', catalogue];
  };
  // Half of it comes: then the process is killed.
  const half = weights.length / 2;
  server.trick = ({ file }, response) => {
    response.writeHead(200, { etag: '"one"', 'content-length': file.length });
    response.write(file.subarray(0, half));
    return true;
  };
  const victim = spawn(process.execPath, command('pull', 'tiny'), { stdio: 'ignore' });
  const part = path.join(dataDir, 'models', '.loading', 'tiny', 'tiny.onnx.part');
  await vi.waitUntil(async () => (await stat(part).catch(() => undefined))?.size === half, { timeout: 30_000 });
  victim.kill('SIGKILL');
  await once(victim, 'exit');
  await expect(run(process.execPath, command('verify', 'tiny'))).rejects.toMatchObject({ code: 1 });

  server.trick = undefined;
  const { stdout, stderr } = await run(process.execPath, command('pull', 'tiny'));
  expect(stdout).toContain('installed in');
  expect(stderr).toMatch(/tiny\.onnx 50\.3 of 50\.3 MB {2}[\d.]+ MB\/s\n/);
  expect(server.seen).toEqual(['all /tiny.onnx', `bytes=${half}- /tiny.onnx`]);
  expect((await readFile(path.join(dataDir, 'models', 'tiny', 'tiny.onnx'))).equals(weights)).toBe(true);

  const listed = JSON.parse((await run(process.execPath, command('list', '--json'))).stdout) as { folder: string }[];
  expect(listed[0]?.folder).toBe(path.join(dataDir, 'models', 'tiny'));
  const verified = await run(process.execPath, command('verify', '--json'));
  expect(JSON.parse(verified.stdout)).toMatchObject([{ id: 'tiny', ok: true }]);
  // A damaged model is reported.
  await truncate(path.join(dataDir, 'models', 'tiny', 'tiny.onnx'), 1_000);
  const damaged = { code: 1, stdout: expect.stringContaining('✗ tiny is incomplete') };
  await expect(run(process.execPath, command('verify'))).rejects.toMatchObject(damaged);
  expect((await run(process.execPath, command('list'))).stdout).toMatch(/^✗ {2}tiny .*\n {5}Tiny: tests; none$/m);
  await run(process.execPath, command('remove', 'tiny'));
  await expect(run(process.execPath, command('pull', 'nobody'))).rejects.toMatchObject({ stderr: /models list/ });
}, 60_000);
