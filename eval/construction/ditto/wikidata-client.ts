import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { retryAfterMs } from '../../../voices/calls/http-faults.ts';
import { writeFileAtomic } from '../../../voices/runtime/files.ts';
import { EvalError } from '../../eval-error.ts';
import type { EvalClock } from '../../limits.ts';
import type { TextLanguage } from '../runner/words.ts';
import type { WikiCharacter } from './characters.ts';
import { characterOf, entity, humans, namesIn, type Entity } from './entity.ts';

/** Addresses and manners of the client. */
export interface WikidataOptions {
  readonly sparqlUrl: string;
  readonly apiUrl: string;
  /** Address of the API of Wikipedia in a language. */
  readonly wikipediaUrl: (language: TextLanguage) => string;
  /** E-mail or page of who asks; the services want to know. */
  readonly contact: string;
  readonly cache: string;
  readonly clock: EvalClock;
  readonly signal: AbortSignal;
}

const betweenMs = 1_000;
const mostAttempts = 5;
const batch = 50;

const found = z.object({
  results: z.object({ bindings: z.array(z.object({ item: z.object({ value: z.string() }) })) }),
});
const entities = z.object({ entities: z.record(z.string(), entity) });
const pages = z.object({
  query: z.object({ pages: z.record(z.string(), z.looseObject({ extract: z.string().optional() })) }),
});

/** Collects characters, the most linked first: one request at a time, a second apart, each kept on disk. */
export async function* collectCharacters(
  {
    language,
    limit,
    leastLinks,
  }: { readonly language: TextLanguage; readonly limit: number; readonly leastLinks: number },
  options: WikidataOptions,
): AsyncGenerator<WikiCharacter> {
  const get = politeGet(options);
  for (const kind of humans) {
    const query = `SELECT ?item WHERE { ?item wdt:P31 wd:${kind}; wikibase:sitelinks ?links. FILTER(?links >= ${leastLinks}) } ORDER BY DESC(?links) ?item LIMIT ${limit}`;
    const rows = found.parse(await get(options.sparqlUrl, { query, format: 'json' }));
    const ids = rows.results.bindings.flatMap(({ item }) => /Q\d+$/.exec(item.value)?.[0] ?? []);
    for (let from = 0; from < ids.length; from += batch) {
      const own = await entitiesOf(
        ids.slice(from, from + batch),
        'labels|descriptions|aliases|claims|sitelinks',
        get,
        options,
      );
      const named = [...new Set([...own.values()].flatMap((one) => namesIn(one)))];
      const labels = new Map<string, Entity>();
      for (let at = 0; at < named.length; at += batch)
        for (const [id, one] of await entitiesOf(named.slice(at, at + batch), 'labels', get, options))
          labels.set(id, one);
      for (const [id, one] of own) {
        const labelOf = (name: string): string | undefined => labels.get(name)?.labels[language]?.value;
        const character = characterOf(id, one, { language, labelOf });
        if (character === undefined) continue;
        const title = one.sitelinks[`${language}wiki`]?.title;
        const summary = title === undefined ? '' : await introductionOf(title, language, get, options);
        yield { ...character, summary };
      }
    }
  }
}

/** Introductions of articles, one request a second, kept on disk. */
export function introductions(
  language: TextLanguage,
  options: Omit<WikidataOptions, 'sparqlUrl' | 'apiUrl'>,
): (title: string) => Promise<string> {
  const get = politeGet(options);
  return (title) => introductionOf(title, language, get, options);
}

type Get = (url: string, parameters: Readonly<Record<string, string>>) => Promise<unknown>;

async function entitiesOf(
  ids: readonly string[],
  props: string,
  get: Get,
  { apiUrl }: WikidataOptions,
): Promise<Map<string, Entity>> {
  if (ids.length === 0) return new Map();
  const answer = await get(apiUrl, { action: 'wbgetentities', ids: ids.join('|'), props, format: 'json' });
  return new Map(Object.entries(entities.parse(answer).entities));
}

async function introductionOf(
  title: string,
  language: TextLanguage,
  get: Get,
  { wikipediaUrl }: Pick<WikidataOptions, 'wikipediaUrl'>,
): Promise<string> {
  const parameters = {
    action: 'query',
    prop: 'extracts',
    exintro: '1',
    explaintext: '1',
    redirects: '1',
    titles: title,
    format: 'json',
  };
  const answer = pages.parse(await get(wikipediaUrl(language), parameters));
  return Object.values(answer.query.pages)[0]?.extract?.trim() ?? '';
}

/** Asks one thing at a time, a second apart, obeys `Retry-After`, and keeps each answer on disk. */
function politeGet({
  cache,
  contact,
  clock,
  signal,
}: Pick<WikidataOptions, 'cache' | 'contact' | 'clock' | 'signal'>): Get {
  let nextMs = 0;
  return async (url, parameters) => {
    const address = `${url}?${new URLSearchParams(parameters).toString()}`;
    const file = path.join(cache, `${createHash('sha256').update(address).digest('hex')}.json`);
    const kept = await readFile(file, 'utf8').catch(() => undefined);
    if (kept !== undefined) return JSON.parse(kept);
    for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
      await clock.sleep(Math.max(0, nextMs - clock.now()), signal);
      const headers = { 'user-agent': `Dramatis (${contact})`, accept: 'application/json' };
      const response = await fetch(address, { headers, signal });
      nextMs = clock.now() + betweenMs;
      if (response.ok) {
        const answer: unknown = await response.json();
        await mkdir(cache, { recursive: true });
        await writeFileAtomic(file, JSON.stringify(answer));
        return answer;
      }
      await response.body?.cancel();
      if (response.status !== 429 && response.status < 500)
        throw new EvalError('data', `${url} answers with the status ${response.status}.`);
      const waitMs = retryAfterMs(response.headers.get('retry-after')) ?? 1_000 * 2 ** attempt;
      nextMs = clock.now() + Math.max(1_000, waitMs);
    }
    throw new EvalError('data', `${url} is too busy. Run the same command later: answers so far are kept.`);
  };
}
