import { z } from 'zod';
import { packOf, type Draft, type ImportReport, type Problem } from './draft.ts';
import { filesEnding, jsonOf, jsonRows, misfit } from './files.ts';

/** Names of the properties that tell most about a person (wikidata.org). */
const properties: Readonly<Record<string, string>> = {
  P21: 'sex or gender',
  P569: 'date of birth',
  P570: 'date of death',
  P19: 'place of birth',
  P27: 'country of citizenship',
  P106: 'occupation',
  P39: 'position held',
  P22: 'father',
  P25: 'mother',
  P26: 'spouse',
  P40: 'child',
  P3373: 'sibling',
  P69: 'educated at',
  P800: 'notable work',
  P1441: 'present in work',
  P170: 'creator',
  P50: 'author',
  P103: 'native language',
};
const relations = new Set(['father', 'mother', 'spouse', 'child', 'sibling']);

/** MediaWiki writes an empty object as an empty array. */
function mapOf<Value extends z.ZodType>(value: Value) {
  return z.preprocess(
    (map) => (Array.isArray(map) && map.length === 0 ? {} : map),
    z.record(z.string(), value).default({}),
  );
}

const term = mapOf(z.looseObject({ value: z.string() }));
const snak = z.looseObject({
  mainsnak: z.looseObject({ datavalue: z.looseObject({ value: z.unknown() }).optional() }),
});
const entity = z.looseObject({
  labels: term,
  descriptions: term,
  aliases: mapOf(z.array(z.looseObject({ value: z.string() }))),
  claims: mapOf(z.array(snak)),
});
/** A single entity, one per row, as in the dumps. */
const bareEntity = entity.extend({ id: z.string().regex(/^[QPL]\d+$/u) });
const entityFile = z.looseObject({ entities: z.record(z.string(), entity) });
const ditto = z.looseObject({
  label: z.string().min(1),
  description: z.string().default(''),
  aliases: z.array(z.string()).default([]),
  claims: z.array(z.array(z.string())).default([]),
  summary: z.string().default(''),
  wiki: z.looseObject({ content: z.string().default('') }).optional(),
});
/** A page of Wikipedia: `api/rest_v1/page/summary/…`, or one of `action=query&prop=extracts`. */
const wikipedia = z.looseObject({
  title: z.string().min(1),
  description: z.string().default(''),
  extract: z.string().min(1),
});
const wikipediaPages = z.looseObject({
  query: z.looseObject({ pages: z.union([z.array(wikipedia).min(1), z.record(z.string(), wikipedia)]) }),
});

/** Characters of a whole article that replace a missing summary. */
const introduction = 4_000;

type Entity = z.infer<typeof entity>;

const rights = 'Wikidata, CC0; texts of Wikipedia CC BY-SA 4.0';

/**
 * Imports encyclopedia entities: Wikidata's JSON (`Special:EntityData`, `wbgetentities`; the first entity of a file is
 * the character, the others name the entities it refers to; or bare entities, as in the dumps), the rows of DITTO
 * (label, description, claims, summary), or pages of Wikipedia (title, extract).
 */
export async function importWikidata(place: string): Promise<ImportReport> {
  const problems: Problem[] = [];
  const packs: ImportReport['packs'][number][] = [];
  const files = await filesEnding(place, '.json', '.jsonl');
  const add = (draft: Draft | undefined, where: string): void => {
    const pack = draft === undefined ? undefined : packOf(draft, where, problems);
    if (pack !== undefined) packs.push(pack);
  };
  for (const file of files) {
    if (file.endsWith('.jsonl')) {
      for await (const { row, value } of jsonRows(file, problems))
        for (const draft of draftsIn(value, `${file}:${row}`, problems)) add(draft, `${file}:${row}`);
      continue;
    }
    const value = await jsonOf(file, problems);
    if (value !== undefined) for (const draft of draftsIn(value, file, problems)) add(draft, file);
  }
  return { packs, problems };
}

/** Drafts of a value in any of the supported shapes; none, and a problem, for other shapes. */
function draftsIn(value: unknown, where: string, problems: Problem[]): (Draft | undefined)[] {
  const entities = entityFile.safeParse(value);
  if (entities.success) return [entityDraft(entities.data.entities, where, problems)];
  const bare = bareEntity.safeParse(value);
  if (bare.success) return [entityDraft({ [bare.data.id]: bare.data }, where, problems)];
  const pages = wikipediaPages.safeParse(value);
  const page = wikipedia.safeParse(value);
  const found = pages.success ? Object.values(pages.data.query.pages) : page.success ? [page.data] : [];
  if (found.length > 0)
    return found.map(({ title, description, extract }) => draftOf(title, description, [], [], extract));
  if (typeof value === 'object' && value !== null && 'entities' in value) {
    const reason = entities.error === undefined ? '' : `: ${misfit(entities.error)}`;
    problems.push({ where, what: `not a Wikidata response${reason}` });
    return [];
  }
  return [dittoDraft(value, where, problems)];
}

function entityDraft(
  entities: Readonly<Record<string, Entity>>,
  where: string,
  problems: Problem[],
): Draft | undefined {
  const [first] = Object.values(entities);
  const language = first?.labels['en'] === undefined ? 'zh' : 'en';
  const nameOf = (one: Entity | undefined): string | undefined =>
    one?.labels[language]?.value ?? Object.values(one?.labels ?? {})[0]?.value;
  const name = nameOf(first);
  if (first === undefined || name === undefined) {
    problems.push({ where, what: 'no entity with a label' });
    return undefined;
  }
  let nameless = 0;
  const claims = Object.entries(first.claims).flatMap(([id, values]) => {
    const property = properties[id];
    if (property === undefined) return [];
    // Claims without a value state that there is none, or that it is unknown.
    const valued = values.filter(({ mainsnak }) => mainsnak.datavalue !== undefined);
    return valued.flatMap(({ mainsnak }) => {
      const value = valueOf(mainsnak.datavalue?.value, (target) => nameOf(entities[target]));
      if (value === undefined) nameless += 1;
      return value === undefined ? [] : [[property, value] as const];
    });
  });
  if (nameless > 0)
    problems.push({
      where,
      what: `${nameless} claims refer to entities that the file does not name; skipped`,
    });
  const aliases = first.aliases[language]?.map(({ value }) => value) ?? [];
  return draftOf(name, first.descriptions[language]?.value ?? '', aliases, claims, '');
}

function dittoDraft(value: unknown, where: string, problems: Problem[]): Draft | undefined {
  // DITTO's rows nest it in `meta`.
  const inner = typeof value === 'object' && value !== null && 'meta' in value ? value.meta : value;
  const parsed = ditto.safeParse(inner);
  if (!parsed.success) {
    problems.push({
      where,
      what: `not a Wikidata entity, a DITTO role or a Wikipedia page: ${misfit(parsed.error)}`,
    });
    return undefined;
  }
  const { label, description, aliases, claims, wiki } = parsed.data;
  const summary = parsed.data.summary || (wiki?.content.slice(0, introduction) ?? '');
  const pairs = claims.flatMap((claim) =>
    claim.length < 2 ? [] : [[claim.at(-2) ?? '', claim.at(-1) ?? ''] as const],
  );
  return draftOf(label, description, aliases, pairs, summary);
}

function draftOf(
  name: string,
  description: string,
  aliases: readonly string[],
  claims: readonly (readonly [property: string, value: string])[],
  summary: string,
): Draft {
  const told = claims.filter(([property]) => !relations.has(property));
  const facts = [...Map.groupBy(told, ([property]) => property)].map(
    ([property, values]) => `${property}: ${values.map(([, value]) => value).join(', ')}`,
  );
  const of = (property: string): string | undefined => claims.find(([each]) => each === property)?.[1];
  const died = /-?\d{1,4}/u.exec(of('date of death') ?? '')?.[0];
  const sex = of('sex or gender') ?? '';
  const work = of('present in work');
  return {
    name,
    rights,
    profile: [description === '' ? '' : `${name}: ${description}.`, summary].filter(Boolean).join('\n'),
    background: [aliases.length === 0 ? '' : `Also known as ${aliases.join(', ')}.`, ...facts]
      .filter(Boolean)
      .join('\n'),
    relationships: claims
      .filter(([property]) => relations.has(property))
      .map(([relation, other]) => ({ name: other, relation })),
    ...(work === undefined ? {} : { work }),
    ...(died === undefined ? {} : { untilYear: Number(died) }),
    gender: /^female|^女/u.test(sex) ? 'female' : /^male|^男/u.test(sex) ? 'male' : 'neutral',
  };
}

/** A claim's value as text: a name, a year, a string. Undefined for entities without a known name. */
function valueOf(value: unknown, nameOf: (id: string) => string | undefined): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return undefined;
  if ('id' in value && typeof value.id === 'string') return nameOf(value.id);
  if ('time' in value && typeof value.time === 'string') return /^([+-]\d+)-/u.exec(value.time)?.[1]?.replace('+', '');
  if ('text' in value && typeof value.text === 'string') return value.text;
  return undefined;
}
