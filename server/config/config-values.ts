import { z } from 'zod';

/** Several values: a list in the file, comma-separated elsewhere. */
export function listOf<Item extends z.ZodType>(item: Item) {
  return z.preprocess(
    (value) =>
      typeof value === 'string'
        ? value
            .split(',')
            .map((entry) => entry.trim())
            .filter(Boolean)
        : value,
    z.array(item).readonly(),
  );
}

/** A number: a number in the file, digits elsewhere. */
export function numeric<Numeric extends z.ZodType<number | undefined>>(schema: Numeric) {
  return z.preprocess((value) => (typeof value === 'string' && value.trim() !== '' ? Number(value) : value), schema);
}
