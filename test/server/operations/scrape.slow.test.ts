import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Engines } from '../../../server/engines/engines.ts';
import { pcm16FromFloats } from '../../../voices/audio.ts';
import { makeRoleBench } from '../../eval/rolebench/small-rolebench.ts';
import { startCommand } from '../../eval/jobs/jobs-rig.ts';
import { openScratch } from '../../eval/scratch.ts';
import { fakeEngines } from '../../fakes/engines.ts';
import { openTextModelServer } from '../../fakes/servers/text-model-server.ts';
import { silence, tone } from '../../fakes/vad.ts';
import { hasRedis, startRedis, until } from '../../rigs/cluster-rig.ts';
import { evaluate } from '../../rigs/eval-rig.ts';
import { freePort } from '../../rigs/kill-rig.ts';
import { serve } from '../../rigs/serve-rig.ts';

const hasPrometheus = spawnSync('prometheus', ['--version']).status === 0;
const isSkipped = !hasPrometheus || !hasRedis;
if (isSkipped) console.warn('skipped: the test of dashboards needs prometheus and redis-server (Debian packages)');

const operations = path.resolve(import.meta.dirname, '../../../server/operations');
const key = 'a-key-of-sixteen-or-more';
const authorization = `Bearer ${key}`;

interface Answer {
  readonly data: { readonly result: readonly { readonly value: readonly [number, string] }[] };
}

/** A real Prometheus that scrapes a node and a worker with the project's own rules. */
async function startPrometheus(folder: string, node: string, worker: string) {
  const port = await freePort();
  const ours = (await readFile(path.join(operations, 'prometheus.yml'), 'utf8'))
    .replaceAll('10s', '500ms')
    .replace('alerts.yml', path.join(operations, 'chart', 'alerts.yml'))
    .replace('/tmp/key', path.join(folder, 'key'))
    .replace(/\['node-1.*\]/, `['${node}']`)
    .replace('targets: []', `targets: ['${worker}']`);
  await writeFile(path.join(folder, 'key'), key);
  await writeFile(path.join(folder, 'prometheus.yml'), ours);
  const flags = [
    `--config.file=${path.join(folder, 'prometheus.yml')}`,
    `--storage.tsdb.path=${path.join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ];
  const child = spawn('prometheus', flags, { stdio: ['ignore', 'ignore', 'ignore'] });
  const exited = once(child, 'exit');
  return {
    /** Values of a query now; empty if there is no data, or none yet. */
    async query(text: string): Promise<readonly number[]> {
      const body = new URLSearchParams({ query: text });
      const response = await fetch(`http://127.0.0.1:${port}/api/v1/query`, { method: 'POST', body }).catch(() => null);
      if (response?.ok !== true) return [];
      const { data } = (await response.json()) as Answer;
      return data.result.map(({ value }) => Number(value[1]));
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** All queries of the dashboards, with an interval that fits the scrapes of the test. */
async function dashboardQueries(): Promise<string[]> {
  const folder = path.join(operations, 'grafana', 'dashboards');
  const files = await readdir(folder);
  const texts = await Promise.all(files.map((file) => readFile(path.join(folder, file), 'utf8')));
  return texts.flatMap((text) => {
    const { panels } = JSON.parse(text) as { panels: { targets: { expr: string }[] }[] };
    return panels.flatMap(({ targets }) => targets.map(({ expr }) => expr.replaceAll('$__rate_interval', '5m')));
  });
}

/** Engines with stages as a server has them, whose model answers out of its role once. */
function enginesOfTest(): Engines {
  const engines = fakeEngines({ says: ['One two three four five six.'] });
  const reply = engines.agent.reply.bind(engines.agent);
  engines.agent.reply = (history, options) => {
    options.onViolation?.('assistant');
    return reply(history, options);
  };
  const load = { running: 1, waiting: 2 };
  return {
    ...engines,
    summary: [
      { stage: 'vad', name: 'fake-vad' },
      { stage: 'recognizer', name: 'fake-recognizer', load: { 'fake-recognizer': load } },
      { stage: 'synthesizer', name: 'fake-synthesizer' },
    ],
  };
}

/** One talk with a spoken turn, a requested one, an error, a resume, and two requests that are refused. */
async function talk({ call, url }: Awaited<ReturnType<typeof serve>>): Promise<void> {
  const first = call('?model=alice&x=resume,heard', { authorization });
  const { session } = await first.until('session.created');
  const token: string = session.x_dramatis.resume.token;
  const say = (samples: Float32Array): void =>
    first.send({ type: 'input_audio_buffer.append', audio: pcm16FromFloats(samples).toString('base64') });
  const listen = (turn_detection: unknown): void =>
    first.send({ type: 'session.update', session: { type: 'realtime', audio: { input: { turn_detection } } } });
  const heard = async (): Promise<void> => {
    const { response } = await first.until('response.created');
    await first.until('response.output_audio.delta');
    first.send({ type: 'x_dramatis.heard', response_id: response.id, samples: 240 });
    await first.until('response.done');
  };
  listen({ type: 'server_vad', silence_duration_ms: 200 });
  say(tone(600));
  say(silence(1_200));
  await heard();
  listen(null);
  await first.until('session.updated');
  say(tone(500));
  first.send({ type: 'input_audio_buffer.commit' });
  first.send({ type: 'response.create' });
  await heard();
  first.send({ type: 'response.cancel' });
  await first.until('error');
  first.socket.terminate();
  await first.closed;
  const again = call(`?model=alice&x=resume,heard&after=1&resume=${token}`, { authorization });
  await again.until('x_dramatis.resumed');
  again.socket.close(1000);
  await again.closed;
  expect((await fetch(`${url}/characters`)).status).toBe(401);
}

describe.skipIf(isSkipped)('the dashboards', () => {
  it('have data for every query, from a node and a worker that a real Prometheus scrapes', async () => {
    await using scratch = await openScratch();
    await using ends = new AsyncDisposableStack();
    const redis = await startRedis(await freePort());
    ends.defer(() => redis.kill());
    const flags = {
      apiKeys: `app:${key}`,
      store: true,
      redisUrl: redis.url,
      nodeUrl: 'http://127.0.0.1:1',
      clusterKey: 'the key that all nodes share',
    };
    const server = await serve({ engines: enginesOfTest(), flags });
    const workerPort = await freePort();
    const worker = startCommand(['worker', '--jobs', redis.url, '--metrics', `${workerPort}`]);
    ends.defer(async () => {
      worker.child.kill('SIGTERM');
      await worker.exited;
    });
    const folder = path.join(scratch.path, 'prometheus');
    await mkdir(folder);
    await worker.told('Waiting for runs');
    await using prometheus = await startPrometheus(folder, server.at, `127.0.0.1:${workerPort}`);
    const counts = async (query: string, least: number): Promise<void> =>
      until(async () => ((await prometheus.query(query))[0] ?? -1) >= least);

    const data = path.join(scratch.path, 'data');
    await mkdir(data);
    await makeRoleBench(data);
    await using models = await openTextModelServer({
      actor: () => 'I never lose it.',
      judge: () => 'It fits.\n**Verdict:** A',
    });
    const judge = ['--judge', `${models.url}/v1`, '--judge-model', 'judge', '--judge-prices', '1000,0,0'];
    const run = ['run', '--task', 'rolebench', '--data', data, '--agent', `chat:${models.url}/v1#actor`, ...judge];
    // A counter that is seen for the first time has not grown: everything happens twice.
    for (let round = 1; round <= 2; round += 1) {
      await talk(server);
      await counts('sum(dramatis_turns_total)', 2 * round);
      await counts('sum(dramatis_resume_seconds_count)', round);
      const out = path.join(scratch.path, `out-${round}`);
      expect((await evaluate([...run, '--out', out, '--jobs', redis.url])).status).toBe(0);
      await counts('sum(dramatis_asks_total)', 90 * round);
    }
    const queries = await dashboardQueries();
    expect(queries.length).toBeGreaterThan(40);
    const missing: string[] = [];
    for (const query of queries) {
      const values = await prometheus.query(query);
      if (values.every((value) => Number.isNaN(value))) missing.push(query);
    }
    expect(missing).toEqual([]);
  }, 120_000);
});
