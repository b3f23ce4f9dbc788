import { z } from 'zod';

const text = z.string().max(200_000);
const keys = z.array(text).max(1_000);

/** An optional field that some writers store as null. */
const maybe = <Schema extends z.ZodType>(schema: Schema) => schema.nullish();

const entrySchema = z.looseObject({
  keys,
  content: text,
  extensions: z.record(z.string(), z.unknown()).default({}),
  enabled: z.boolean().default(true),
  insertion_order: z.number().default(100),
  case_sensitive: maybe(z.boolean()),
  use_regex: maybe(z.boolean()),
  constant: maybe(z.boolean()),
  name: maybe(text),
  priority: maybe(z.number()),
  id: maybe(z.union([z.number(), text])),
  comment: maybe(text),
  selective: maybe(z.boolean()),
  secondary_keys: maybe(keys),
  position: maybe(z.union([text, z.number()])),
});

/** A `character_book`: lore entries triggered by their keys. V2 §character_book, V3 §Lorebook. */
export const lorebookSchema = z.looseObject({
  name: maybe(text),
  description: maybe(text),
  /** Number of latest messages searched for keys. */
  scan_depth: maybe(z.number().int().min(0)),
  /** Limit of triggered entries, in tokens. */
  token_budget: maybe(z.number().int().min(0)),
  /** Triggered entries are searched for the keys of others. */
  recursive_scanning: maybe(z.boolean()),
  extensions: z.record(z.string(), z.unknown()).default({}),
  entries: z.array(entrySchema).max(20_000),
});

export type Lorebook = z.infer<typeof lorebookSchema>;
export type LorebookEntry = z.infer<typeof entrySchema>;
