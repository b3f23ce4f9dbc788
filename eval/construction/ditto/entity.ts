import { z } from 'zod';
import type { TextLanguage } from '../runner/words.ts';
import type { WikiCharacter } from './characters.ts';

const mostValues = 60;
/** Human, and fictional human. */
export const humans = ['Q5', 'Q15632617'] as const;

const text = z.looseObject({ value: z.string() });
const snak = z.looseObject({
  mainsnak: z.looseObject({
    property: z.string(),
    datatype: z.string().optional(),
    datavalue: z.looseObject({ value: z.unknown() }).optional(),
  }),
});
/** An entity of Wikidata, as its API and its dumps have it. */
export const entity = z.looseObject({
  labels: z.record(z.string(), text).catch({}),
  descriptions: z.record(z.string(), text).catch({}),
  aliases: z.record(z.string(), z.array(text)).catch({}),
  claims: z.record(z.string(), z.array(snak)).catch({}),
  sitelinks: z.record(z.string(), z.looseObject({ title: z.string() })).catch({}),
});
export type Entity = z.infer<typeof entity>;

/** A character out of an entity, without an introduction; undefined if it has no label in the language. */
export function characterOf(
  id: string,
  one: Entity,
  { language, labelOf }: { readonly language: TextLanguage; readonly labelOf: (id: string) => string | undefined },
): WikiCharacter | undefined {
  const label = one.labels[language]?.value;
  if (label === undefined) return undefined;
  return {
    id,
    label,
    description: one.descriptions[language]?.value ?? '',
    aliases: (one.aliases[language] ?? []).map(({ value }) => value),
    claims: claimsOf(one, labelOf),
    lang: language,
    summary: '',
  };
}

/** Properties and values that a claim names; identifiers, images and sort keys are left out. */
function claimsOf({ claims }: Entity, labelOf: (id: string) => string | undefined): string[][] {
  return Object.entries(claims)
    .flatMap(([property, statements]) => {
      const name = labelOf(property);
      const values = statements.flatMap(({ mainsnak: { datatype, datavalue } }) => {
        if (datatype === 'external-id' || datatype === 'commonsMedia') return [];
        const value = datavalue?.value;
        const id = entityIn(value);
        const said = id === undefined ? plainValue(value) : labelOf(id);
        return said === undefined ? [] : [said];
      });
      return name === undefined || values.length === 0 ? [] : [[name, ...values.slice(0, 8)]];
    })
    .slice(0, mostValues);
}

/** Ids of the properties and values that the claims of an entity name. */
export function namesIn({ claims }: Entity): readonly string[] {
  return Object.entries(claims)
    .slice(0, mostValues * 2)
    .flatMap(([property, statements]) => [
      property,
      ...statements.slice(0, 8).flatMap(({ mainsnak }) => entityIn(mainsnak.datavalue?.value) ?? []),
    ]);
}

function entityIn(value: unknown): string | undefined {
  const { data } = z.looseObject({ id: z.string().regex(/^[QP]\d+$/) }).safeParse(value);
  return data?.id;
}

function plainValue(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  const { data } = z
    .looseObject({ time: z.string().optional(), amount: z.string().optional(), text: z.string().optional() })
    .safeParse(value);
  return data?.text ?? data?.time?.replace(/^\+/, '').replace(/T.*$/, '').replace(/-00/g, '') ?? data?.amount;
}
