import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { planEngines } from '../../../server/engines/engine-plan.ts';
import type { Engines } from '../../../server/engines/engines.ts';
import { EngineError } from '../../../voices/engine.ts';
import { hashOf } from '../../../voices/runtime/files.ts';
import { fakeEngines } from '../../fakes/engines.ts';
import { openWeightsServer, weightsOf } from '../../fakes/models/weights-server.ts';
import { serve } from '../../rigs/serve-rig.ts';
import { testFolder } from '../../fakes/test-folder.ts';

const folder = testFolder();
const weights = weightsOf(20_000);

/** A server whose catalogue has a voice and a recognizer, and engines that take models. */
async function openModels({ fault }: { fault?: EngineError } = {}) {
  const weightsServer = await openWeightsServer(weights);
  onTestFinished(() => weightsServer.close());
  const dataDir = await mkdtemp(path.join(folder, 'data-'));
  const modelCatalogue = path.join(dataDir, 'catalogue.json');
  const model = (id: string, role: string) => ({
    id,
    title: `The ${id}`,
    use: 'tests',
    role,
    languages: ['en'],
    licence: 'CC0-1.0',
    downloads: [
      { file: 'tiny.onnx', urls: [`${weightsServer.url}/${id}.onnx`], bytes: weights.length, sha256: hashOf(weights) },
    ],
    files: { model: 'tiny.onnx' },
    engine: { kind: 'sherpa-onnx', family: 'vits' },
  });
  const models = [model('voice', 'tts'), model('ear', 'asr'), model('judge', 'quality')];
  await writeFile(modelCatalogue, JSON.stringify(models));
  const used: unknown[] = [];
  const engines: Engines = {
    ...fakeEngines(),
    summary: [{ stage: 'turns', name: 'words and prosody' }],
    async useModel(stage, id) {
      if (fault !== undefined) throw fault;
      used.push([stage, id]);
    },
  };
  const server = await serve({ engines, flags: { dataDir, modelCatalogue } });
  const call = async (method: string, route: string, body?: unknown) => {
    const type = body === undefined ? {} : { headers: { 'content-type': 'application/json' } };
    const given = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(server.url + route, { method, ...type, ...given });
    const content: any = await response.json();
    return { status: response.status, body: content };
  };
  const row = async (id: string) => (await call('GET', '/models')).body.models.find((each: any) => each.id === id);
  return { weightsServer, dataDir, modelCatalogue, used, call, row };
}

it.each([
  ['GET', '/models'],
  ['POST', '/models/voice/download'],
  ['DELETE', '/models/voice/download'],
  ['PUT', '/models/use'],
])('refuses client secrets and other pages the models: %s %s', async (method, route) => {
  const keyed = await serve({ engines: fakeEngines(), flags: { apiKeys: 'server-key', dataDir: folder } });
  const made = await keyed.ask('/v1/realtime/client_secrets', { key: 'server-key', body: {} });
  const secret = { authorization: `Bearer ${made.body.value as string}` };
  expect((await fetch(keyed.url + route, { method, headers: secret })).status).toBe(403);
  expect((await fetch(keyed.url + route, { method })).status).toBe(401);
  const open = await serve({ engines: fakeEngines(), flags: { allowedOrigins: '*', dataDir: folder } });
  expect((await fetch(open.url + route, { method, headers: { origin: 'https://evil.example' } })).status).toBe(403);
});

it('lists the voices and recognizers of the catalogue with size and licence, and no model of other roles', async () => {
  const { call } = await openModels();
  const { body } = await call('GET', '/models');
  expect(body.models.map(({ id }: { id: string }) => id)).toEqual(['voice', 'ear']);
  const facts = { bytes: 20_000, licence: 'CC0-1.0', installed: false, used: false, download: null };
  expect(body).toMatchObject({ changeable: true, auto: false, models: [{ id: 'voice', role: 'tts', ...facts }, {}] });
});

it('says which turn detector decides', async () => {
  const { call } = await openModels();
  expect((await call('GET', '/models')).body.turnDetector).toBe('words and prosody');
});

it('downloads a model in the background, uses it, and uses it again at the next start', async () => {
  const { call, row, used, dataDir, modelCatalogue } = await openModels();
  expect(await call('PUT', '/models/use', { stage: 'tts', model: 'voice' })).toMatchObject({
    status: 409,
    body: { error: { code: 'model_not_installed' } },
  });
  expect((await call('POST', '/models/voice/download')).status).toBe(202);
  await vi.waitUntil(async () => (await row('voice')).installed, { timeout: 10_000 });
  expect(await call('PUT', '/models/use', { stage: 'asr', model: 'voice' })).toMatchObject({ status: 409 });
  expect((await call('PUT', '/models/use', { stage: 'tts', model: 'voice' })).status).toBe(200);
  expect(used).toEqual([['tts', 'voice']]);
  expect(await row('voice')).toMatchObject({ installed: true, used: true, download: null });
  const planned = planEngines({ dataDir, modelCatalogue }).tts.map(({ name }) => name);
  expect(planned).toEqual(['voice', 'embedded']);
  expect(planEngines({ dataDir, modelCatalogue, tts: ['embedded'] }).tts[0]?.name).toBe('embedded');
  expect((await call('PUT', '/models/use', { stage: 'tts', model: null })).status).toBe(200);
  expect(used.at(-1)).toEqual(['tts', undefined]);
  expect(planEngines({ dataDir, modelCatalogue }).tts.map(({ name }) => name)).toEqual(['embedded']);
});

it('reports the progress of a download, cancels it, and continues from there', async () => {
  const { call, row, weightsServer } = await openModels();
  weightsServer.trick = ({ file }, response) => {
    response.writeHead(200, { etag: '"one"', 'content-length': file.length });
    response.write(file.subarray(0, 5_000));
    return true;
  };
  await call('POST', '/models/voice/download');
  await vi.waitUntil(async () => (await row('voice')).download?.done === 5_000, { timeout: 10_000 });
  expect((await row('voice')).download).toEqual({ done: 5_000, of: 20_000, error: null });
  expect((await call('DELETE', '/models/voice/download')).status).toBe(200);
  expect((await row('voice')).download).toBeNull();
  weightsServer.trick = undefined;
  await call('POST', '/models/voice/download');
  await vi.waitUntil(async () => (await row('voice')).installed, { timeout: 10_000 });
  expect(weightsServer.seen).toEqual(['all /voice.onnx', 'bytes=5000- /voice.onnx']);
});

it('reports why a download failed, and lists no other models', async () => {
  const { call, row, weightsServer } = await openModels();
  weightsServer.trick = (_, response) => {
    response.writeHead(404).end();
    return true;
  };
  await call('POST', '/models/voice/download');
  await vi.waitUntil(async () => (await row('voice')).download?.error, { timeout: 10_000 });
  expect((await row('voice')).download.error).toContain('404');
  expect(await call('POST', '/models/nothing/download')).toMatchObject({
    status: 404,
    body: { error: { code: 'model_unknown' } },
  });
});

it('keeps the present engine and saves nothing if a model does not work', async () => {
  const fault = new EngineError('voice', 'ENGINE_MISSING', 'the weights are damaged');
  const { call, row, dataDir } = await openModels({ fault });
  await call('POST', '/models/voice/download');
  await vi.waitUntil(async () => (await row('voice')).installed, { timeout: 10_000 });
  const put = await call('PUT', '/models/use', { stage: 'tts', model: 'voice' });
  expect(put).toMatchObject({ status: 501, body: { error: { message: 'the weights are damaged' } } });
  await expect(readFile(path.join(dataDir, 'chosen-models.json'))).rejects.toMatchObject({ code: 'ENOENT' });
});
