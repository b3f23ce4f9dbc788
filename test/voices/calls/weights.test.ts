import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { importOptional } from '../../../voices/calls/optional-package.ts';
import { checkWeights } from '../../../voices/models/weights.ts';
import { keptForTests } from '../../rigs/voice-engine-rig.ts';

const { folder } = await keptForTests();

const bytes = Buffer.from('weights, as it were');
const sha256 = createHash('sha256').update(bytes).digest('hex');
const place = path.join(folder, 'model.onnx');
await writeFile(place, bytes);

async function refusal(weights: Parameters<typeof checkWeights>[1]): Promise<string> {
  const failure = await checkWeights('ear', weights).catch((cause: unknown) => cause);
  expect(failure).toMatchObject({ name: 'EngineError', code: 'ENGINE_MISSING' });
  return (failure as { detail: string }).detail;
}

describe('weights files', () => {
  it('weights are accepted if they match the trusted hash, in any case of letters', async () => {
    const weights = { model: { path: place, sha256: sha256.toUpperCase() }, other: undefined };
    expect(await checkWeights('ear', weights)).toEqual({ model: place });
  });

  it('missing weights are reported by path', async () => {
    const nowhere = path.join(folder, 'nowhere.onnx');
    expect(await refusal({ model: { path: nowhere, sha256 } })).toContain(nowhere);
  });

  it('an empty weights file is not taken for an unpinned one', async () => {
    const empty = path.join(folder, 'empty.onnx');
    await writeFile(empty, '');
    expect(await refusal({ model: { path: empty, sha256: '' } })).toContain('is empty');
  });

  it('truncated or damaged weights are not loaded, and the error has both hashes and the size', async () => {
    const cut = path.join(folder, 'cut.onnx');
    await writeFile(cut, bytes.subarray(0, 7));
    const detail = await refusal({ model: { path: cut, sha256 } });
    expect(detail).toContain(sha256);
    expect(detail).toContain(createHash('sha256').update(bytes.subarray(0, 7)).digest('hex'));
    expect(detail).toContain('7 bytes');
  });

  it('unpinned weights are reported with the hashes of all their files', async () => {
    const detail = await refusal({ model: { path: place, sha256: '' }, tokens: { path: place, sha256: '' } });
    expect(detail).toContain(`"model": ${sha256}`);
    expect(detail).toContain(`"tokens": ${sha256}`);
  });

  it('weights may be a folder, whose hash is that of its file list', async () => {
    const tree = path.join(folder, 'espeak-ng-data');
    await mkdir(path.join(tree, 'lang/gmw'), { recursive: true });
    await writeFile(path.join(tree, 'phontab'), 'one');
    await writeFile(path.join(tree, 'lang/gmw/en'), 'two');
    const command = 'find . -type f | LC_ALL=C sort | xargs sha256sum | sha256sum';
    const [listed = ''] = execFileSync('sh', ['-c', command], { cwd: tree, encoding: 'utf8' }).split(' ');
    expect(await checkWeights('ear', { data: { path: tree, sha256: listed } })).toEqual({ data: tree });
    await writeFile(path.join(tree, 'lang/gmw/en'), 'too');
    expect(await refusal({ data: { path: tree, sha256: listed } })).toContain(listed);
  });
});

describe('optional package', () => {
  it('a missing optional package is reported with the command that installs it', async () => {
    const name = 'no-such-package-of-ours';
    await expect(importOptional('ear', name, () => import(name))).rejects.toMatchObject({
      code: 'ENGINE_MISSING',
      detail: `the package ${name} is not installed: run \`npm ci\` without --omit=optional`,
    });
  });

  it('an optional package that does not load here is reported as such', async () => {
    const broken = (): Promise<never> => Promise.reject(new Error('wrong ELF class'));
    const failure = { code: 'ENGINE_MISSING', detail: expect.stringContaining(process.arch) };
    await expect(importOptional('ear', 'sherpa-onnx-node', broken)).rejects.toMatchObject(failure);
  });
});
