import { z } from 'zod';
import { cardSchema, dialoguePairSchema, patternsOf, type Card } from '../../characters/card.ts';
import { CharacterError } from '../../characters/character-error.ts';
import { lorePattern } from '../../characters/lore-pattern.ts';
import { refuseLargeJson, requireFewValues } from '../../characters/tavern/card-file.ts';
import { problemOf } from '../http/request-body.ts';
import type { Problem } from '../session/contract/events.ts';
import { maxPackIssues } from './card-limits.ts';

/** A character pack in a request or response: its card and its example lines. */
export const packSchema = z.strictObject({ card: cardSchema, lines: z.array(dialoguePairSchema).max(20_000) });

export type PackBody = z.infer<typeof packSchema>;

/** An invalid field, with a message for the person who fills in the form. */
export interface PackIssue {
  /** The path of the field, such as `card.lorebook.3.keys`. */
  readonly param: string;
  readonly message: string;
}

/** A pack as parsed, or all that is wrong with it. */
export type ReadPack = PackBody | { readonly problem: Problem; readonly issues: readonly PackIssue[] };

/** Parses the pack in a request. Compiles the patterns of its lorebook to find invalid ones. */
export function readPack(json: string): ReadPack {
  requireFewValues(json, 'the character');
  let body: unknown;
  try {
    body = JSON.parse(json);
  } catch {
    return { problem: { code: 'invalid_event', message: 'The body is not valid JSON.' }, issues: [] };
  }
  refuseLargeJson(body, 'the character');
  const parsed = packSchema.safeParse(body);
  if (!parsed.success) {
    const issues = parsed.error.issues
      .slice(0, maxPackIssues)
      .map((issue) => ({ param: issue.path.map(String).join('.'), message: inWords(issue) }));
    return { problem: problemOf(parsed.error), issues };
  }
  const [first, ...others] = patternIssues(parsed.data.card);
  if (first === undefined) return parsed.data;
  return { problem: { code: 'invalid_event', ...first }, issues: [first, ...others].slice(0, maxPackIssues) };
}

function patternIssues({ lorebook }: Card): PackIssue[] {
  return lorebook.flatMap((entry, index) =>
    patternsOf(entry).flatMap((key, place) => {
      try {
        lorePattern(key, false);
        return [];
      } catch (fault) {
        if (!(fault instanceof CharacterError)) throw fault;
        const inKeys = place < entry.keys.length;
        const field = inKeys ? `keys.${place}` : `secondaryKeys.${place - entry.keys.length}`;
        return [{ param: `card.lorebook.${index}.${field}`, message: fault.message }];
      }
    }),
  );
}

function inWords(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'This field is required.' : `This must have the type ${issue.expected}.`;
    case 'too_small':
      if (issue.origin === 'string') return 'This must not be empty.';
      if (issue.origin !== 'array') return `At least ${issue.minimum}.`;
      return issue.minimum === 1 ? 'At least one is required.' : `At least ${issue.minimum} are required.`;
    case 'too_big':
      if (issue.origin === 'string') return `At most ${issue.maximum} characters.`;
      return issue.origin === 'array' ? `At most ${issue.maximum} of them.` : `At most ${issue.maximum}.`;
    case 'invalid_value':
      return `One of: ${issue.values.map(String).join(', ')}.`;
    case 'invalid_format':
      return `This must be ${issue.message}.`;
    case 'unrecognized_keys':
      return `Unknown fields: ${issue.keys.join(', ').slice(0, 200)}.`;
    case 'invalid_key':
      return issue.issues.map(inWords).join(' ');
    default:
      return issue.message;
  }
}
