import { z } from 'zod';
import { CharacterError } from '../character-error.ts';
import { maxCardDepth, maxCardJsonLength, maxCardNodes } from '../limits.ts';
import { lorebookSchema } from './lorebook.ts';

/** JSON as read from a file. */
export type JsonObject = { readonly [key: string]: unknown };

const text = z.string().max(400_000);
const texts = z.array(text).max(1_000);
// Some writers store null for empty fields.
const textOrNothing = text.nullish().transform((value) => value ?? '');
const textsOrNothing = texts.nullish().transform((value) => value ?? []);

/**
 * Fields of all versions of a Character Card, under the names of the specifications
 * (malfoyslastname/character-card-spec-v2, kwaroran/character-card-spec-v3). Unknown keys are kept. Texts absent from
 * old cards are read as empty.
 */
const dataSchema = z.looseObject({
  name: text,
  description: textOrNothing,
  personality: textOrNothing,
  scenario: textOrNothing,
  first_mes: textOrNothing,
  mes_example: textOrNothing,
  creator_notes: textOrNothing,
  system_prompt: textOrNothing,
  post_history_instructions: textOrNothing,
  alternate_greetings: textsOrNothing,
  tags: textsOrNothing,
  creator: textOrNothing,
  character_version: textOrNothing,
  extensions: z
    .record(z.string(), z.unknown())
    .nullish()
    .transform((value) => value ?? {}),
  character_book: lorebookSchema.nullish(),
  nickname: text.nullish(),
  // Counted before each note is read, since each wrong one costs its own error.
  creator_notes_multilingual: z
    .custom<object>((value) => typeof value === 'object' && value !== null && Object.keys(value).length <= 1_000, {
      error: 'an object of at most 1,000 notes',
    })
    .pipe(z.record(z.string(), text))
    .nullish(),
  source: texts.nullish(),
  group_only_greetings: texts.nullish(),
  creation_date: z.number().nullish(),
  modification_date: z.number().nullish(),
  assets: z
    .array(z.looseObject({ type: text, uri: text, name: text, ext: text }))
    .max(10_000)
    .nullish(),
});

/** Contents of a card, under the names of the specifications. */
export type TavernData = z.infer<typeof dataSchema>;

/** A Character Card of any version. */
export interface TavernCard {
  readonly spec: 'v1' | 'v2' | 'v3';
  readonly data: TavernData;
  /** The file's JSON, untouched: the base of an export, so that no key is lost. */
  readonly whole: JsonObject;
}

/** Parses the JSON of a card. Throws `CharacterError` naming the invalid field. */
export function readCardJson(json: string, where: string): TavernCard {
  requireFewValues(json, where);
  let value: unknown;
  try {
    value = JSON.parse(json.replace(/^\uFEFF/, ''));
  } catch (cause) {
    throw new CharacterError(`${where}: not valid JSON; save the card again from the program that made it`, { cause });
  }
  return readCard(value, where);
}

/** The same for JSON that is already parsed. */
export function readCard(value: unknown, where: string): TavernCard {
  if (!isObject(value)) throw new CharacterError(`${where}: a card must be a JSON object`);
  refuseLargeJson(value, where);
  if (value['spec'] === 'lorebook_v3')
    throw new CharacterError(`${where}: a lorebook without a card; put it into a card's "character_book"`);
  const spec = specOf(value, where);
  const parsed = dataSchema.safeParse(spec === 'v1' ? value : value['data']);
  if (!parsed.success) throw new CharacterError(`${where}: not a character card\n${firstIssues(parsed.error)}`);
  if (parsed.data.name.trim() === '') throw new CharacterError(`${where}: the card has no name; fill in "name"`);
  return { spec, data: parsed.data, whole: value };
}

/**
 * Converts the card to JSON of the requested version. A card of that version is returned unchanged; keys that a version
 * does not know are kept, because both specifications ask readers to keep unknown keys.
 */
export function cardJson(card: TavernCard, spec: 'v2' | 'v3'): JsonObject {
  if (card.spec === spec) return card.whole;
  const { data } = card.spec === 'v1' ? { data: card.whole } : (card.whole as { data: JsonObject });
  const filled = { ...(spec === 'v3' ? v3Blanks : {}), ...v2Blanks, ...data };
  const around = card.spec === 'v1' ? {} : card.whole;
  return { ...around, spec: `chara_card_${spec}`, spec_version: spec === 'v2' ? '2.0' : '3.0', data: filled };
}

/** Creates a new V3 card. */
export function newCard(data: Partial<TavernData> & { readonly name: string }): TavernCard {
  const whole = { spec: 'chara_card_v3', spec_version: '3.0', data: { ...v3Blanks, ...v2Blanks, ...data } };
  return readCard(whole, data.name);
}

/** Returns the card with some fields of `data` replaced. */
export function withData(card: TavernCard, changes: JsonObject): TavernCard {
  if (Object.keys(changes).length === 0) return card;
  const whole =
    card.spec === 'v1'
      ? { ...card.whole, ...changes }
      : { ...card.whole, data: { ...(card.whole['data'] as JsonObject), ...changes } };
  return readCard(whole, card.data.name);
}

const v2Blanks = {
  description: '',
  personality: '',
  scenario: '',
  first_mes: '',
  mes_example: '',
  creator_notes: '',
  system_prompt: '',
  post_history_instructions: '',
  alternate_greetings: [],
  tags: [],
  creator: '',
  character_version: '',
  extensions: {},
};

const v3Blanks = { group_only_greetings: [] };

function specOf(value: JsonObject, where: string): TavernCard['spec'] {
  if (value['spec'] === undefined && value['data'] === undefined) return 'v1';
  if (value['spec'] === 'chara_card_v2') return 'v2';
  // The specification asks readers to treat later versions of V3 as V3.
  if (value['spec'] === 'chara_card_v3') return 'v3';
  throw new CharacterError(
    `${where}: "spec" is ${JSON.stringify(value['spec'])?.slice(0, 60)}; supported are chara_card_v2, chara_card_v3, and V1 cards without "spec"`,
  );
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Refuses JSON with too many values before it is parsed: they would take a hundred times its bytes of memory. Values
 * are counted by the commas and brackets outside strings.
 */
export function requireFewValues(json: string, where: string): void {
  if (json.length > maxCardJsonLength)
    throw new CharacterError(`${where}: longer than ${maxCardJsonLength / 2 ** 20} MiB; shorten its texts or lorebook`);
  let count = 0;
  let isInText = false;
  for (let at = 0; at < json.length; at += 1) {
    const character = json[at];
    if (character === '"') isInText = !isInText;
    else if (isInText && character === '\\') at += 1;
    else if (!isInText && (character === ',' || character === '[' || character === '{')) count += 1;
    if (count > maxCardNodes) throw tooManyValues(where);
  }
}

function tooManyValues(where: string): CharacterError {
  return new CharacterError(`${where}: more than ${maxCardNodes} values; split the card, or shorten its lorebook`);
}

/** Words the first issues of a schema; a hostile file may have one in each of its values. */
export function firstIssues({ issues }: z.ZodError): string {
  return z.prettifyError({ issues: issues.slice(0, 20) });
}

/**
 * Refuses JSON that is nested too deep or has too many values, before a schema reads it. No recursion, so that a
 * malicious file cannot overflow the stack.
 */
export function refuseLargeJson(value: unknown, where: string): void {
  let layer: unknown[] = [value];
  let count = 0;
  for (let depth = 0; layer.length > 0; depth += 1) {
    if (depth > maxCardDepth)
      throw new CharacterError(`${where}: nested deeper than ${maxCardDepth} levels; this is not a card`);
    const next: unknown[] = [];
    for (const each of layer) {
      if (typeof each !== 'object' || each === null) continue;
      const values = Object.values(each);
      count += values.length;
      if (count > maxCardNodes) throw tooManyValues(where);
      for (const inner of values) next.push(inner);
    }
    layer = next;
  }
}
