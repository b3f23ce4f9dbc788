import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { replyEvents } from '../../fakes/servers/chat-server.ts';
import { hasRedis, startCluster } from '../../rigs/cluster-rig.ts';
import { recordTalk } from '../../rigs/talk-rig.ts';

if (!hasRedis) console.warn('skipped: the test of a cut LLM stream needs redis-server (Debian package redis-server)');

const told = 'I once met a Duchess in a kitchen full of pepper.';
/** Short and without commas, so that it is one phrase also at the beginning of a reply. */
const rest = ' She was nursing a baby that turned into a pig.';

interface Asked {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly continue_final_message?: boolean;
}

/** An LLM server whose first stream says no more from the middle of its reply on, and stays open; `answers`: what each later request gets. */
async function openStallingLlm(owner: string, answers: (asked: Asked) => string) {
  const requests: Asked[] = [];
  const server = createServer((request, response) => {
    if (request.method === 'GET') {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ object: 'list', data: [{ id: 'actor', object: 'model', owned_by: owner }] }));
      return;
    }
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    request.on('end', () => {
      const asked = JSON.parse(body) as Asked;
      requests.push(asked);
      response.setHeader('content-type', 'text/event-stream');
      // The second sentence has begun, so that the first one is spoken.
      const isFirst = requests.length === 1;
      const shape = isFirst ? { finish: null, usage: false, done: false } : {};
      response.write(replyEvents([isFirst ? `${told} She` : answers(asked)], shape).join(''));
      if (!isFirst) return response.end();
      // It goes on thinking, so that a busy node does not give it up before it is killed.
      const [, , thought = ''] = replyEvents([], { ...shape, thoughts: ['…'] });
      const thinking = setInterval(() => response.write(thought), 1_000);
      response.once('close', () => clearInterval(thinking));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const begunOf = ({ messages }: Asked): string | undefined =>
  messages.at(-1)?.role === 'assistant' ? messages.at(-1)?.content : undefined;

/** A cluster of nodes on their own engines and this LLM. */
async function startNodes(llmUrl: string, count: number) {
  const cluster = await startCluster({
    DRAMATIS_LLM_BASE_URL: llmUrl,
    DRAMATIS_LLM_MODEL: 'actor',
    DRAMATIS_PLAYOUT_AHEAD_MS: '200',
  });
  const place = { program: path.join(import.meta.dirname, '../../rigs/cluster/real-engines-process.ts') };
  const nodes = await Promise.all(Array.from({ length: count }, () => cluster.addNode({}, place)));
  cluster.balancer.sendTo(...nodes.slice(0, 1));
  const recorded = recordTalk({ url: cluster.balancer.url });
  await recorded.talk.opened;
  recorded.talk.say('Tell me a story.');
  return { ...recorded, cluster, nodes };
}

type Talk = Awaited<ReturnType<typeof startNodes>>;

/** What the client got. `sound`: number of bytes. */
function received({ of, replySound }: Talk) {
  const words = of('response.output_audio_transcript.delta').map(({ delta }) => delta);
  return {
    said: words.join('').replaceAll(/\s+/g, ' ').trim(),
    statuses: of('response.done').map(({ response }) => response.status),
    sound: replySound().length,
  };
}

/** Kills the first node once its reply sounds. */
async function talkThroughKill(llmUrl: string) {
  const talk = await startNodes(llmUrl, 2);
  await using _ = talk.cluster;
  await talk.until('response.output_audio.delta', 3);
  const [first, second] = talk.nodes;
  if (first === undefined || second === undefined) throw new Error('no nodes');
  talk.cluster.balancer.sendTo(second);
  await first.kill();
  expect(await talk.until('connection.open', 2)).toMatchObject({ isNew: false, isRestarted: true });
  await talk.until('response.done', 2);
  talk.talk.close();
  return received(talk);
}

async function talkWithoutKill(llmUrl: string) {
  const talk = await startNodes(llmUrl, 1);
  await using _ = talk.cluster;
  await talk.until('response.done');
  talk.talk.close();
  return received(talk);
}

describe.skipIf(!hasRedis)('a node that is killed while its LLM writes', () => {
  it('its reply continues at another node: the LLM continues its own text, and no sample is lost or comes twice', async () => {
    await using llm = await openStallingLlm('vllm', (asked) => (begunOf(asked) === told ? rest : told + rest));
    const cut = await talkThroughKill(llm.url);
    expect(llm.requests.slice(1)).toMatchObject([{ continue_final_message: true }]);
    expect(cut.said).toBe(told + rest);
    expect(cut.statuses).toEqual(['incomplete', 'completed']);
    // The same words, whole: the third request has no beginning.
    expect(cut.sound).toBe((await talkWithoutKill(llm.url)).sound);
  }, 300_000);

  it('its reply continues where it was cut if an LLM that cannot continue its own text writes the same again', async () => {
    await using llm = await openStallingLlm('somebody', () => told + rest);
    const { said, statuses } = await talkThroughKill(llm.url);
    expect(llm.requests.map(begunOf)).toEqual([undefined, undefined]);
    expect(said).toBe(told + rest);
    expect(statuses).toEqual(['incomplete', 'completed']);
  }, 300_000);

  it('its reply ends with the phrase that sounded if the LLM writes other words: nothing is said twice', async () => {
    await using llm = await openStallingLlm(
      'somebody',
      () => 'There was a kitchen with a Duchess. Her baby was a pig.',
    );
    const { said, statuses } = await talkThroughKill(llm.url);
    expect(said).toBe(told);
    expect(statuses[0]).toBe('incomplete');
  }, 300_000);
});
