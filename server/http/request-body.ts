import type { z } from 'zod';
import type { Problem } from '../session/contract/events.ts';

/** A parsed request body, or a problem that names the invalid field. */
export type ParsedBody<Body> = { readonly body: Body } | { readonly problem: Problem };

/** Validates a request body against a schema. */
export function parseBody<Schema extends z.ZodType>(schema: Schema, given: unknown): ParsedBody<z.infer<Schema>> {
  const parsed = schema.safeParse(given);
  return parsed.success ? { body: parsed.data } : { problem: problemOf(parsed.error) };
}

/** Converts the first issue of a validation error. */
export function problemOf({ issues: [issue] }: z.ZodError): Problem {
  const param = issue?.path.map(String).join('.') ?? '';
  if (issue?.code === 'too_big' && issue.origin === 'string') {
    const message = `${param} is longer than ${issue.maximum} characters.`;
    return { code: 'text_too_long', message, param };
  }
  const isValue = issue?.code === 'too_big' || issue?.code === 'too_small' || issue?.code === 'invalid_value';
  const message = `${param === '' ? 'The body' : param}: ${issue?.message ?? 'invalid'}`.slice(0, 300);
  const code = isValue ? 'invalid_value' : 'invalid_event';
  return { code, message, ...(param === '' ? {} : { param }) };
}
