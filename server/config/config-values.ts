import { z } from 'zod';

/** Schema of a list: a JSON array in the config file, comma-separated text elsewhere. */
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

/** Schema of a number: a JSON number in the config file, text elsewhere. */
export function numeric<Numeric extends z.ZodType<number | undefined>>(schema: Numeric) {
  return z.preprocess((value) => (typeof value === 'string' && value.trim() !== '' ? Number(value) : value), schema);
}
