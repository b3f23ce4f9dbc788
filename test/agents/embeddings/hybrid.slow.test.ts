import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { actor } from '../../../agents/actor/actor.ts';
import type { Embedder } from '../../../agents/embeddings/embedder.ts';
import { adapter } from '../../../agents/embeddings/openai-embeddings.ts';
import { fuse, openHybrid } from '../../../agents/embeddings/hybrid.ts';
import { openSharedEmbedder } from '../../../agents/embeddings/shared-embedder.ts';
import { openPackSearch } from '../../../agents/prompting/pack-search.ts';
import { loadCharacters } from '../../../characters/character.ts';
import type { CallPolicy } from '../../../voices/calls/call-policy.ts';
import { EngineError } from '../../../voices/engine.ts';
import { behind, itSurvivesFaults, secretKey } from '../../conformance/upstream.ts';
import { openEngineServer, type EngineServer } from '../../fakes/servers/engine-server.ts';
import { trigramEmbedder } from '../../fakes/models/trigram-embedder.ts';
import { recallAtFive } from '../../bench/agents/recall-at-five.ts';
import { openEngine } from '../../rigs/voice-engine-rig.ts';
import { fakeChat, smallCharacter } from '../actor/stand-ins.ts';

const { signal } = new AbortController();
const route = 'POST /v1/embeddings';
const json = { 'content-type': 'application/json' };

/** An embedder that puts weather and rain, and money and coins, together. */
const twoTopics: Embedder = {
  name: 'two topics',
  model: 'two topics',
  embed: async (texts) =>
    texts.map((text) =>
      Float32Array.of(/weather|rain|storm/i.test(text) ? 1 : 0, /money|coin|pay/i.test(text) ? 1 : 0),
    ),
};

function openServer(answer?: (input: readonly string[]) => unknown): Promise<EngineServer> {
  return openEngineServer({
    [route]: async (seen) => {
      const { input } = seen.json() as { readonly input: readonly string[] };
      const points = await trigramEmbedder.embed(input, { signal });
      const data = points.map((point, index) => ({ index, embedding: [...folded(point)] }));
      const body = answer?.(input) ?? { data: data.toReversed(), usage: { prompt_tokens: 3 } };
      return { headers: json, body: JSON.stringify(body) };
    },
    'GET /v1/models': () => ({ headers: json, body: '{"data":[{"id":"bge-m3"}]}' }),
  });
}

/** Folds a vector to 64 dimensions, short enough to send many. */
function folded(point: Float32Array): number[] {
  const short = Array.from({ length: 64 }, () => 0);
  for (const [at, value] of point.entries()) short[at % 64] = (short[at % 64] ?? 0) + value;
  return short;
}

function openAt(server: EngineServer, care: CallPolicy = {}) {
  return openEngine(adapter, { baseUrl: `${server.url}/v1`, model: 'bge-m3' }, care);
}

describe('embedding server', () => {
  itSurvivesFaults<Embedder>(
    {
      title: 'openai-embeddings',
      behindServer: true,
      async open(care?: CallPolicy) {
        const server = await openServer();
        return behind(openAt(server, care), server, route);
      },
    },
    async (engine) => {
      try {
        const points = await engine.embed(['private rain', 'snow'], { signal });
        return { delivered: points.map((point) => point.slice(0, 9).join()).join() };
      } catch (error) {
        return { delivered: '', error };
      }
    },
    ['private rain'],
  );

  it('the embedder returns a unit vector per text in order, sends 64 texts a request, and sends the API key', async () => {
    await using server = await openServer();
    const texts = Array.from({ length: 70 }, (_, index) => `text number ${index}`);
    const points = await openAt(server).embed(texts, { signal });
    expect(points).toHaveLength(70);
    expect(points.every((point) => Math.abs(Math.hypot(...point) - 1) < 1e-5)).toBe(true);
    const [single] = await openAt(server).embed([texts[66] ?? ''], { signal });
    expect(points[66]).toEqual(single);
    expect(server.requests.map((seen) => (seen.json()['input'] as unknown[]).length)).toEqual([64, 6, 1]);
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${secretKey}`);
    expect(await openAt(server).check?.({ signal })).toContain('has bge-m3');
  });

  it.each([
    ['too few', { data: [{ index: 0, embedding: [1] }] }],
    ['one twice', { data: [0, 0].map((index) => ({ index, embedding: [1] })) }],
    ['different lengths', { data: [0, 1].map((index) => ({ index, embedding: index === 0 ? [1] : [1, 2] })) }],
    ['no numbers', { data: [0, 1].map((index) => ({ index, embedding: ['a'] })) }],
  ])('the embedder rejects a response with %s', async (_what, body) => {
    await using server = await openServer(() => body);
    const failed = openAt(server).embed(['a', 'b'], { signal });
    await expect(failed).rejects.toMatchObject({ code: 'ENGINE_BAD_REPLY' });
  });
});

describe('hybrid retrieval', () => {
  const texts = ['It rained for a week.', 'A purse of coins.', 'The weather vane creaks.'];

  it('hybrid retrieval ranks first what both rankings rank high', () => {
    const ranked = (...indexes: number[]) => indexes.map((index) => ({ index, score: 1 }));
    expect(fuse([ranked(4, 1, 2), ranked(1, 3)]).map(({ index }) => index)).toEqual([1, 4, 3, 2]);
  });

  it('hybrid retrieval finds texts without a common word once their embeddings are there', async () => {
    const hybrid = openHybrid(texts);
    const [point] = await twoTopics.embed(['money?'], { signal });
    expect(hybrid.search('money?', 1, point)).toEqual([]);
    await hybrid.prepare(twoTopics, { signal });
    expect(hybrid.search('money?', 1, point)[0]?.index).toBe(1);
    expect(hybrid.search('vane', 1)[0]?.index).toBe(2);
  });

  it('hybrid retrieval recalls held-out user messages of the eight packs as the README claims', async () => {
    const packs = await loadCharacters(path.resolve(import.meta.dirname, '../../../characters'));
    const words = await recallAtFive(packs);
    const both = await recallAtFive(packs, trigramEmbedder);
    const share = (found: readonly boolean[]): number => found.filter(Boolean).length / found.length;
    expect(both).toHaveLength(words.length);
    expect(share(words)).toBeGreaterThan(0.46);
    expect(share(both)).toBeGreaterThan(0.46);
  }, 120_000);
});

describe('retrieval for a prompt', () => {
  const coins = { asks: ['What does a bed cost?'], reply: 'Two silver coins, and breakfast with it.' };
  const withMoney = () => smallCharacter({ lines: [...smallCharacter().lines, coins] });
  const character = withMoney();
  const settled = async (find: ReturnType<typeof openPackSearch>): Promise<void> => {
    await find('', { signal });
    for (let round = 0; round < 10; round += 1) await turn();
  };

  it('prompt retrieval uses embeddings too, and only words while the embedder fails or is late', async () => {
    const find = openPackSearch(character, openSharedEmbedder(twoTopics));
    expect(await find('Is money short?', { signal })).toBeUndefined();
    await settled(find);
    expect((await find('Is money short?', { signal }))?.lines).toContainEqual(coins);
    const down: Embedder = {
      name: 'down',
      model: 'down',
      embed: () => Promise.reject(new EngineError('down', 'ENGINE_UNAVAILABLE', 'down')),
    };
    const broken = openPackSearch(withMoney(), openSharedEmbedder(down));
    await settled(broken);
    expect(await broken('Is money short?', { signal })).toBeUndefined();
  });

  it('the actor’s prompt contains the retrieved lines', async () => {
    const find = openPackSearch(character, openSharedEmbedder(twoTopics));
    await settled(find);
    const chat = fakeChat(['Aye.']);
    const history = [{ role: 'user' as const, text: 'Is money short?' }];
    await Array.fromAsync(actor(character, chat, { findByEmbedding: find }).reply(history, { signal }));
    expect(chat.calls[0]?.messages.at(-1)?.text).toContain(coins.reply);
    await Array.fromAsync(actor(character, chat).reply(history, { signal }));
    expect(chat.calls[1]?.messages.at(-1)?.text).not.toContain(coins.reply);
  });

  it('prompt retrieval stops when the reply is aborted', async () => {
    const find = openPackSearch(character, openSharedEmbedder(twoTopics));
    await settled(find);
    await expect(find('Money?', { signal: AbortSignal.abort(new Error('gone')) })).rejects.toThrow('gone');
  });
});
