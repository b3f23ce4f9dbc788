import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { expect, it } from 'vitest';
import { importWikidata } from '../../../../characters/importers/wikidata.ts';
import { collectCharacters } from '../../../../eval/construction/ditto/wikidata-client.ts';
import { profileText, type WikiCharacter } from '../../../../eval/construction/ditto/characters.ts';
import { dittoPipeline } from '../../../../eval/construction/ditto/pipeline.ts';
import { dialogueSchema } from '../../../../eval/construction/records/dialogue.ts';
import { openPrompts } from '../../../../eval/construction/runner/prompts.ts';
import { loadWikiRole } from '../../../../eval/wikirole/test-set.ts';
import { openScratch } from '../../scratch.ts';
import { build, filesOf, hurriedClock, jsonLines } from '../rig/build-rig.ts';
import { scriptedModel } from '../rig/scripted-model.ts';
import { dittoScript, wikiCharacters } from './ditto-script.ts';

it.each(['en', 'zh'] as const)(
  'characters in %s ask and answer what they know and what they cannot know, though one call in ten goes wrong',
  async (language) => {
    await using scratch = await openScratch();
    const input = path.join(scratch.path, 'characters.jsonl');
    await writeFile(
      input,
      wikiCharacters(40, language)
        .map((row) => JSON.stringify(row))
        .join('\n'),
    );
    const out = path.join(scratch.path, 'out');
    const pipeline = dittoPipeline({ input, rights: 'CC0', promptOf: openPrompts() });
    const report = await build(pipeline, out, scriptedModel(dittoScript(), { faults: 0.1 }));
    expect(report.stopped).toBeNull();
    const files = await filesOf(out);
    const dialogues = jsonLines<object>(files.get('dialogues.jsonl')).map((row) => dialogueSchema.parse(row));
    expect(dialogues).toHaveLength(40);
    for (const { labels } of dialogues) {
      const foreign = labels?.['foreign'] as boolean[];
      expect([foreign.filter(Boolean).length, foreign.length]).toEqual([3, 6]);
    }
    const test = jsonLines<{ meta: WikiCharacter }>(files.get('test.jsonl'));
    expect(test.length).toBeGreaterThan(0);
    const train = jsonLines<{ messages: { content: string }[] }>(files.get('chatml.jsonl')).map(
      ({ messages }) => messages[0]?.content,
    );
    expect(test.filter(({ meta }) => train.some((system) => system?.includes(`${meta.label},`)))).toEqual([]);
    const { packs } = await importWikidata(path.join(out, 'characters.jsonl'));
    expect(packs).toHaveLength(40);
    const config = {
      data: path.join(out, 'test.jsonl'),
      select: {},
      seed: 1,
      parser: 'tolerant',
    } as unknown as Parameters<typeof loadWikiRole>[0];
    expect((await loadWikiRole(config)).count).toBe(test.length);

    const second = scriptedModel(dittoScript(), { faults: 0.1 });
    await build(pipeline, out, second);
    expect([second.calls, await filesOf(out)]).toEqual([[], files]);
  },
);

it('a profile that is too long ends at a sentence', () => {
  const summary = 'She sang in Warsaw. '.repeat(2_000);
  const [character] = wikiCharacters(1, 'en');
  const text = profileText({ ...(character as WikiCharacter), summary });
  expect(text.length).toBeLessThan(summary.length);
  expect(text.endsWith('.')).toBe(true);
});

it('a Retry-After that is a date is obeyed', async () => {
  await using scratch = await openScratch();
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    const date = new Date(Date.now() + 600_000).toUTCString();
    if (requests === 1) response.writeHead(429, { 'retry-after': date }).end();
    else response.end(JSON.stringify(answerTo(new URL(request.url ?? '', 'http://localhost').searchParams)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const clock = hurriedClock();
  const sleptMs: number[] = [];
  const source = {
    sparqlUrl: `${url}/sparql`,
    apiUrl: `${url}/w/api.php`,
    wikipediaUrl: () => `${url}/en`,
    contact: 'test@example.org',
    cache: path.join(scratch.path, 'cache'),
    clock: { ...clock, sleep: (ms: number, signal: AbortSignal) => (sleptMs.push(ms), clock.sleep(ms, signal)) },
    signal: new AbortController().signal,
  };
  await Array.fromAsync(collectCharacters({ language: 'en', limit: 2, leastLinks: 40 }, source));
  server.close();
  expect(Math.max(...sleptMs)).toBeGreaterThan(590_000);
});

it('characters are collected one request at a time, again after 429, and from disk the second time', async () => {
  await using scratch = await openScratch();
  let requests = 0;
  let atOnce = 0;
  const agents = new Set<string | undefined>();
  const server = createServer((request, response) => {
    requests += 1;
    atOnce += 1;
    agents.add(request.headers['user-agent']);
    const query = new URL(request.url ?? '', 'http://localhost').searchParams;
    if (requests === 2) response.writeHead(429, { 'retry-after': '2' });
    else response.setHeader('content-type', 'application/json');
    atOnce -= 1;
    response.end(requests === 2 ? '' : JSON.stringify(answerTo(query)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const collect = (): Promise<WikiCharacter[]> =>
    Array.fromAsync(
      collectCharacters(
        { language: 'en', limit: 2, leastLinks: 40 },
        {
          sparqlUrl: `${url}/sparql`,
          apiUrl: `${url}/w/api.php`,
          wikipediaUrl: () => `${url}/en`,
          contact: 'test@example.org',
          cache: path.join(scratch.path, 'cache'),
          clock: hurriedClock(),
          signal: new AbortController().signal,
        },
      ),
    );
  const [adler] = await collect();
  expect(adler).toEqual({
    id: 'Q1',
    label: 'Irene Adler',
    description: 'opera singer',
    aliases: ['The Woman'],
    claims: [
      ['occupation', 'singer'],
      ['date of birth', '1858-03-20'],
    ],
    lang: 'en',
    summary: 'Irene Adler is a singer.',
  });
  const before = requests;
  await collect();
  expect([requests, atOnce, [...agents]]).toEqual([before, 0, ['Dramatis (test@example.org)']]);
  server.closeAllConnections();
  server.close();
});

/** What Wikidata and Wikipedia answer, for one person. */
function answerTo(query: URLSearchParams): object {
  if (query.has('query')) {
    const isPerson = query.get('query')?.includes('wd:Q5;') === true;
    return { results: { bindings: isPerson ? [{ item: { value: 'http://www.wikidata.org/entity/Q1' } }] : [] } };
  }
  if (query.get('action') === 'query') return { query: { pages: { 1: { extract: 'Irene Adler is a singer.\n' } } } };
  const term = (value: string): object => ({ en: { value } });
  const statement = (datatype: string, value: unknown): object => ({
    mainsnak: { property: '', datatype, datavalue: { value } },
  });
  const known: Readonly<Record<string, object>> = {
    Q1: {
      labels: term('Irene Adler'),
      descriptions: term('opera singer'),
      aliases: { en: [{ value: 'The Woman' }] },
      claims: {
        P106: [{ ...statement('wikibase-item', { id: 'Q2' }) }],
        P569: [statement('time', { time: '+1858-03-20T00:00:00Z' })],
        P213: [statement('external-id', '0000')],
      },
      sitelinks: { enwiki: { title: 'Irene Adler' } },
    },
    Q2: { labels: term('singer') },
    P106: { labels: term('occupation') },
    P569: { labels: term('date of birth') },
    P213: { labels: term('ISNI') },
  };
  return { entities: Object.fromEntries((query.get('ids') ?? '').split('|').map((id) => [id, known[id] ?? {}])) };
}
