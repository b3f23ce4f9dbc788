import { expect, it } from 'vitest';
import { checkEmbeddings } from '../../../server/cli/doctor/engines.ts';
import { openEngineServer, type EngineServer } from '../../fakes/servers/engine-server.ts';
import type { Fault } from '../../fakes/servers/faults.ts';

const json = { 'content-type': 'application/json' };
const route = 'POST /v1/embeddings';

/** Answers with the same embedding for each text. */
function openServer(point: readonly unknown[] = [0.6, 0.8], status = 200): Promise<EngineServer> {
  return openEngineServer({
    [route]: (seen) => {
      const input = seen.json()['input'] as readonly string[];
      return {
        status,
        headers: json,
        body: JSON.stringify({ data: input.map((_, index) => ({ index, embedding: point })) }),
      };
    },
    'GET /v1/models': () => ({ headers: json, body: '{"data":[{"id":"bge-m3:latest"},{"id":"other"}]}' }),
  });
}

async function found(server: { readonly url: string }, model = 'bge-m3'): Promise<string> {
  const config = { embeddingsBaseUrl: `${server.url}/v1`, embeddingsModel: model, embeddingsApiKey: 'sk-1' };
  const [finding] = await checkEmbeddings(config);
  return `${finding?.ok === true ? '✓' : '✗'} ${finding?.stage} ${finding?.name} ${finding?.says}`;
}

it('checks no embedding server if none is configured', async () => {
  expect(await checkEmbeddings({})).toEqual([]);
});

it('reports dimension and latency of a working embedding server and finds an Ollama model without its tag', async () => {
  await using server = await openServer();
  expect(await found(server)).toMatch(
    /^✓ embeddings bge-m3 openai-embeddings: 127\.0\.0\.1:\d+ has bge-m3; 2 dimensions, one text in \d+ ms \(a reply waits at most 250 ms\); both texts after \d+ ms$/,
  );
  expect(server.requests.map(({ path, headers }) => `${path} ${headers.authorization}`)).toEqual([
    '/v1/models Bearer sk-1',
    '/v1/embeddings Bearer sk-1',
    '/v1/embeddings Bearer sk-1',
  ]);
});

it('reports one line with the remedy for each way an embedding server can fail', async () => {
  await using server = await openServer();
  await using zeros = await openServer([0, 0]);
  await using words = await openServer(['a']);
  const broken = async (fault: Fault, where?: string): Promise<string> => {
    server.breaks(fault, where === undefined ? {} : { route: where });
    const line = await found(server);
    server.mends();
    return line;
  };
  expect(await broken({ kind: 'status', status: 401 })).toMatch(
    /^✗ .*rejected the key \(401\). Check DRAMATIS_EMBEDDINGS_API_KEY/,
  );
  expect(await found(server, 'bge-m4')).toMatch(
    /no model "bge-m4"\. It has bge-m3:latest, other\. Set DRAMATIS_EMBEDDINGS_MODEL/,
  );
  expect(await broken({ kind: 'status', status: 404 }, route)).toMatch(
    /does not know the model or the path \(404\). Check DRAMATIS_EMBEDDINGS_MODEL and DRAMATIS_EMBEDDINGS_BASE_URL/,
  );
  expect(await broken({ kind: 'page' }, route)).toMatch(/^✗ .*invalid JSON. Check DRAMATIS_EMBEDDINGS_BASE_URL/);
  expect(await found(zeros)).toMatch(/^✗ .*only zeros. Use another model/);
  expect(await found(words)).toMatch(/^✗ .*no embeddings/);
  expect(await found({ url: 'http://127.0.0.1:1' })).toMatch(
    /cannot be reached \(ECONNREFUSED\). Check DRAMATIS_EMBEDDINGS_BASE_URL/,
  );
});
