import { createReadStream } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { z } from 'zod';
import { EvalError } from '../../eval-error.ts';
import { linesOf } from '../runner/lines.ts';
import type { TextLanguage } from '../runner/words.ts';
import type { WikiCharacter } from './characters.ts';
import { characterOf, entity, humans, namesIn, type Entity } from './entity.ts';

/** Characters that are sought in a dump, and where their introductions come from. */
export interface SoughtInDump {
  readonly language: TextLanguage;
  /** Persons, and as many fictional ones. */
  readonly limit: number;
  readonly leastLinks: number;
  /** Introduction of an article by its title; without it, characters have none. */
  readonly introductionOf?: ((title: string) => Promise<string>) | undefined;
  readonly signal: AbortSignal;
}

interface Found {
  readonly id: string;
  readonly links: number;
  readonly one: Entity;
}

const dumped = entity.extend({ id: z.string().regex(/^[QPL]\d+$/) });

/**
 * Collects characters from a dump of Wikidata (`latest-all.json`, also as `.gz`), the most linked first, in two passes:
 * one for the entities, one for the labels that they name. Memory holds only the wanted entities. Throws an `EvalError`.
 */
export async function* charactersInDump(file: string, sought: SoughtInDump): AsyncGenerator<WikiCharacter> {
  const { language, limit, leastLinks, introductionOf, signal } = sought;
  const best = humans.map((): Found[] => []);
  const order = (one: Found, other: Found): number =>
    other.links - one.links || Number(one.id.slice(1)) - Number(other.id.slice(1));
  for await (const line of entitiesIn(file, signal)) {
    if (!humans.some((kind) => line.includes(`"${kind}"`))) continue;
    const one = read(file, line);
    if (one === undefined) continue;
    const links = Object.keys(one.sitelinks).length;
    const kinds = (one.claims['P31'] ?? []).map(({ mainsnak }) => idIn(mainsnak.datavalue?.value));
    const place = humans.findIndex((kind) => kinds.includes(kind));
    const list = best[place];
    if (list === undefined || links < leastLinks || one.labels[language] === undefined) continue;
    list.push({ id: one.id, links, one: withoutOthers(one, language) });
    if (list.length >= 2 * limit) list.sort(order).splice(limit);
  }
  for (const list of best) list.sort(order).splice(limit);
  const labels = await labelsIn(file, new Set(best.flat().flatMap(({ one }) => namesIn(one))), sought);
  for (const { id, one } of best.flat()) {
    const character = characterOf(id, one, { language, labelOf: (name) => labels.get(name) });
    const title = one.sitelinks[`${language}wiki`]?.title;
    if (character === undefined) continue;
    yield {
      ...character,
      summary: title === undefined || introductionOf === undefined ? '' : await introductionOf(title),
    };
  }
}

async function labelsIn(
  file: string,
  wanted: ReadonlySet<string>,
  { language, signal }: SoughtInDump,
): Promise<ReadonlyMap<string, string>> {
  const labels = new Map<string, string>();
  for await (const line of entitiesIn(file, signal)) {
    const [, id = ''] = /"id":"([QP]\d+)"/.exec(line.slice(0, 200)) ?? [];
    const label = wanted.has(id) ? read(file, line)?.labels[language]?.value : undefined;
    if (label !== undefined) labels.set(id, label);
  }
  return labels;
}

/** Lines of a dump, an entity each, without the brackets and commas of the list around them. */
async function* entitiesIn(file: string, signal: AbortSignal): AsyncGenerator<string> {
  if (/\.(?:bz2|zst|xz)$/.test(file))
    throw new EvalError('usage', `--dump: ${path.basename(file)} must be unpacked first, or be a .gz.`);
  const source = createReadStream(file, { highWaterMark: 1 << 20 });
  // The reader below gets the failure of either stream.
  const bytes = file.endsWith('.gz') ? pipeline(source, createGunzip(), () => undefined) : source;
  try {
    for await (const { text } of linesOf(bytes as AsyncIterable<Buffer>)) {
      signal.throwIfAborted();
      const line = text.trim().replace(/,$/, '');
      if (line.startsWith('{')) yield line;
    }
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof EvalError) throw cause;
    throw new EvalError('data', `--dump: ${file} cannot be read to its end.`, cause);
  }
}

function read(file: string, line: string): z.infer<typeof dumped> | undefined {
  try {
    return dumped.safeParse(JSON.parse(line)).data;
  } catch (cause) {
    throw new EvalError(
      'data',
      `--dump: ${file} has a line that is not an entity. The file may be cut off; download it again.`,
      cause,
    );
  }
}

/** The entity in one language: a dump has hundreds. */
function withoutOthers(one: Entity, language: TextLanguage): Entity {
  const only = <Value>(map: Readonly<Record<string, Value>>, key: string): Record<string, Value> => {
    const value = map[key];
    return value === undefined ? {} : { [key]: value };
  };
  return {
    labels: only(one.labels, language),
    descriptions: only(one.descriptions, language),
    aliases: only(one.aliases, language),
    claims: one.claims,
    sitelinks: only(one.sitelinks, `${language}wiki`),
  };
}

function idIn(value: unknown): string | undefined {
  return z.looseObject({ id: z.string() }).safeParse(value).data?.id;
}
