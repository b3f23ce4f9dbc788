import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { cardSchema, dialoguePairSchema } from '../../characters/card.ts';
import { errorObject } from '../session/contract/errors.ts';
import { problemOf } from '../http/request-body.ts';

/** A character pack in a request or response: its card and its example lines. */
export const packSchema = z.strictObject({ card: cardSchema, lines: z.array(dialoguePairSchema).max(20_000) });
type PackBody = z.infer<typeof packSchema>;

/** Largest body: a card with its picture. Lorebooks are small compared to it. */
export const mostCardBytes = 25 * 2 ** 20;

/** An invalid field, with a message for the person who fills in the form. */
interface PackIssue {
  /** The path of the field, such as `card.lorebook.3.keys`. */
  readonly param: string;
  readonly message: string;
}

/** Most issues reported in one response. */
const mostIssues = 100;

/** Parses the pack in a request. If it is invalid, sends a response with all issues and returns undefined. */
export function parsePack(body: unknown, reply: FastifyReply): PackBody | undefined {
  const parsed = packSchema.safeParse(body);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues
    .slice(0, mostIssues)
    .map((issue): PackIssue => ({ param: issue.path.map(String).join('.'), message: inWords(issue) }));
  const { event_id: _unused, ...error } = errorObject(problemOf(parsed.error));
  void reply.code(400).send({ error: { ...error, x_dramatis: { issues } } });
  return undefined;
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
