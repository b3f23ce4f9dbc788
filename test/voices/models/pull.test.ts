import { execFileSync } from 'node:child_process';
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { hashOf } from '../../../voices/runtime/files.ts';
import { readCatalogue } from '../../../voices/models/catalogue.ts';
import { findInstalled, verifyModel } from '../../../voices/models/installed.ts';
import { takeProcessLock } from '../../../voices/runtime/process-lock.ts';
import { removeModel } from '../../../voices/models/pull.ts';
import { modelOf, openModelRig, weights, type ModelRig } from './model-rig.ts';
import { testFolder } from '../../fakes/test-folder.ts';

/** A `.tar.bz2` with these files, made by the system's tar. */
async function archiveOf(files: Readonly<Record<string, string>>, flags: readonly string[] = []): Promise<Buffer> {
  const folder = testFolder();
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    if (text.startsWith('→')) await symlink(text.slice(1), path.join(folder, name));
    else await writeFile(path.join(folder, name), text);
  }
  return execFileSync('tar', ['-cj', ...flags, ...Object.keys(files)], { cwd: folder });
}

const archived = (url: string, file: Buffer, keep: string[]) => ({
  ...modelOf(url, { file: 'tiny.tar.bz2', urls: [`${url}/t.tar.bz2`], sha256: hashOf(file), keep }),
  files: { model: 'model.onnx', dataDir: 'data' },
});

/** Pulls until `bytes` have come, then aborts. */
async function killAfter(rig: ModelRig, bytes: number): Promise<void> {
  rig.server.trick = ({ file }, response) => {
    response.writeHead(200, { etag: rig.server.etag, 'content-length': file.length });
    response.write(file.subarray(0, bytes));
    return true;
  };
  const killed = new AbortController();
  const pulling = rig.pull(rig.model, {
    signal: killed.signal,
    onProgress: (_file, { done }) => void (done === bytes && killed.abort(new Error('killed'))),
  });
  await expect(pulling).rejects.toThrow('killed');
  rig.server.trick = undefined;
}

describe('models pull', () => {
  it('models pull resumes after a kill and requests only what is missing', async () => {
    const rig = await openModelRig();
    await killAfter(rig, 6_000);
    expect(await rig.installed()).toEqual({});
    const told: unknown[] = [];
    await rig.pull(rig.model, { onProgress: (_file, progress) => void told.push(progress) });
    expect(told[0]).toEqual({ done: 6_000, of: weights.length, already: 6_000 });
    expect(told.at(-1)).toEqual({ done: weights.length, of: weights.length, already: 6_000 });
    expect(rig.server.seen).toEqual(['all /tiny.onnx', 'bytes=6000- /tiny.onnx']);
    expect((await rig.installed())['tiny/tiny.onnx']?.equals(weights)).toBe(true);
    expect(await readdir(path.join(rig.dataDir, 'models'))).not.toContain('pins.json');
  });

  it('models pull does not resume from another version', async () => {
    const rig = await openModelRig();
    rig.server.file = Buffer.from(weights.map((byte) => byte ^ 255));
    await killAfter(rig, 4_000);
    Object.assign(rig.server, { file: weights, etag: '"two"', trick: undefined });
    await rig.pull();
    expect((await rig.installed())['tiny/tiny.onnx']?.equals(weights)).toBe(true);
  });

  it('models pull pins the hash of a model without a stated one, and refuses any other from then on', async () => {
    const rig = await openModelRig();
    const model = modelOf(rig.server.url, { sha256: '' });
    await rig.pull(model);
    expect(rig.notes).toEqual([expect.stringContaining(hashOf(weights))]);
    Object.assign(rig.server, { file: Buffer.from(weights.map((byte) => byte ^ 1)), etag: '"two"' });
    await expect(rig.pull(model, { again: true })).rejects.toMatchObject({ code: 'model_corrupt' });
    expect((await rig.installed())['tiny/tiny.onnx']?.equals(weights)).toBe(true);
    await writeFile(path.join(rig.dataDir, 'models', 'pins.json'), '{"cut');
    await expect(rig.pull(model, { again: true })).rejects.toMatchObject({ code: 'model_catalogue_invalid' });
  });

  it('models pull states the disk space it needs before it requests a byte', async () => {
    const rig = await openModelRig();
    const model = modelOf(rig.server.url, { bytes: weights.length });
    const freeBytes = async (): Promise<number> => 1_000;
    await expect(rig.pull(model, { freeBytes })).rejects.toMatchObject({ code: 'model_disk_full', message: /17 MB/ });
    expect(rig.server.seen).toEqual([]);
  });

  it('models pull lets one process at a time work on a model', async () => {
    const rig = await openModelRig();
    const lock = path.join(rig.dataDir, 'models', '.loading', 'tiny.lock');
    {
      using _lock = await takeProcessLock(lock, () => new Error('held'));
      const refused = { code: 'model_in_use', message: expect.stringContaining(`Process ${process.pid} `) };
      await expect(rig.pull()).rejects.toMatchObject(refused);
      await expect(removeModel(rig.model, rig.dataDir)).rejects.toMatchObject(refused);
    }
    await expect(rig.pull()).resolves.toBe(true);
  });

  it('models pull unpacks only what the engine loads from an archive', async () => {
    const rig = await openModelRig();
    const long = `out/data/${'x'.repeat(120)}`;
    const file = await archiveOf({ 'out/model.onnx': 'weights', 'out/data/a': 'A', [long]: 'B', 'out/test.wav': 'no' });
    rig.server.file = file;
    const model = archived(rig.server.url, file, ['model.onnx', 'data/']);
    await rig.pull(model);
    const names = Object.keys(await rig.installed()).toSorted();
    expect(names).toEqual(['tiny/data/a', `tiny/${long.slice(4)}`, 'tiny/installed.json', 'tiny/model.onnx']);
    await expect(verifyModel(rig.dataDir, model)).resolves.toMatchObject({ id: 'tiny' });
  });

  it.each([
    ['climbs out of its folder', { 'out/data/ok': 'A', 'out/data/evil': 'B' }, 's,evil,../../../evil,'],
    [
      'names a place of the system',
      { 'out/data/ok': 'A', 'out/data/evil': 'B' },
      's,data/evil,data//../../../../evil,',
    ],
  ])('models pull refuses an archive that %s', async (_name, files, change) => {
    const rig = await openModelRig();
    const file = await archiveOf({ ...files, 'out/model.onnx': 'w' }, ['-P', `--transform=${change}`]);
    rig.server.file = file;
    const model = archived(rig.server.url, file, ['model.onnx', 'data/']);
    await expect(rig.pull(model)).rejects.toMatchObject({ code: 'model_corrupt', message: /outside its folder/ });
    expect(await rig.installed()).toEqual({});
  });

  it('models pull follows no links in an archive', async () => {
    const rig = await openModelRig();
    const file = await archiveOf({ 'out/data/a': 'A', 'out/model.onnx': '→/etc/hostname' });
    rig.server.file = file;
    const model = archived(rig.server.url, file, ['model.onnx', 'data/']);
    await expect(rig.pull(model)).rejects.toMatchObject({ code: 'model_corrupt', message: /lacks model.onnx/ });
  });

  it.each([0.3, 0.9])('models pull detects a damaged archive without knowing its hash (cut at %d)', async (share) => {
    const rig = await openModelRig();
    const whole = await archiveOf({ 'out/model.onnx': weights.toString('latin1'), 'out/data/a': 'A' });
    const file = whole.subarray(0, Math.floor(share * whole.length));
    rig.server.file = file;
    const model = archived(rig.server.url, file, ['model.onnx', 'data/']);
    (model.downloads[0] as { sha256: string }).sha256 = '';
    await expect(rig.pull(model)).rejects.toMatchObject({ code: 'model_corrupt' });
    // Nothing was pinned by it: the whole archive is welcome.
    Object.assign(rig.server, { file: whole, etag: '"two"' });
    await rig.pull(model);
    expect(findInstalled(rig.dataDir, model)).toBeDefined();
  });

  it('models pull reports damaged files on disk, and models remove deletes a model', async () => {
    const rig = await openModelRig();
    await rig.pull();
    const place = path.join(rig.dataDir, 'models', 'tiny', 'tiny.onnx');
    await writeFile(place, Buffer.from(weights.map((byte) => byte ^ 2)));
    await expect(verifyModel(rig.dataDir, rig.model)).rejects.toMatchObject({ code: 'model_corrupt' });
    await writeFile(place, 'short');
    expect(findInstalled(rig.dataDir, rig.model)).toBeUndefined();
    await removeModel(rig.model, rig.dataDir);
    expect(await rig.installed()).toEqual({});
    await expect(verifyModel(rig.dataDir, rig.model)).rejects.toMatchObject({ code: 'model_not_installed' });
    await expect(removeModel(rig.model, rig.dataDir)).rejects.toMatchObject({ code: 'model_not_installed' });
  });
});

describe('model catalogue', () => {
  it('the catalogue has an entry for each role, with a licence, or a reason why there is nothing to download', () => {
    const catalogue = readCatalogue();
    expect(new Set(catalogue.map(({ role }) => role)).size).toBe(8);
    for (const { downloads, unpublished } of catalogue) expect(downloads.length === 0).toBe(unpublished !== undefined);
  });

  it('the catalogue rejects an invalid entry of a user’s file', async () => {
    const folder = testFolder();
    const file = path.join(folder, 'catalogue.json');
    const model = modelOf('http://127.0.0.1:1');
    await writeFile(file, JSON.stringify([{ ...model, files: { model: '../../etc/passwd' } }]));
    expect(() => readCatalogue(file)).toThrow(/files.model/);
    await writeFile(file, JSON.stringify([model, model]));
    expect(() => readCatalogue(file)).toThrow(/two models are called tiny/);
  });
});
