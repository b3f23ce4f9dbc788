import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { parseBody } from '../../../server/http/request-body.ts';

describe('parseBody', () => {
  const schema = z.strictObject({ name: z.string(), voice: z.strictObject({ id: z.string() }).optional() });

  it.each([
    [[], 'The body: Invalid input: expected object, received array', undefined],
    [{ name: 'Ann', user: 'x' }, 'The body: Unrecognized key: "user"', undefined],
    [{ name: 'Ann', voice: { id: 'a', x: 1 } }, 'voice: Unrecognized key: "x"', 'voice'],
    [{ name: 1 }, 'name: Invalid input: expected string, received number', 'name'],
  ])('names what is wrong with the request body without a leading colon: %j', (body, message, param) => {
    const parsed = parseBody(schema, body);
    expect('problem' in parsed && parsed.problem).toEqual({
      code: 'invalid_event',
      message,
      ...(param === undefined ? {} : { param }),
    });
  });
});
