import { z } from 'zod';

const shortText = z.string().trim().min(1).max(400);

/** Most of a relation, either way. */
export const mostRelation = 100;

const value = z.number().int().min(-mostRelation).max(mostRelation);

/** One axis of a character's relation to the user, such as trust, and what changes it. */
export const relationAxis = z.strictObject({
  /** Its name on the wire, such as `trust`. */
  axis: z.string().regex(/^[a-z][a-z0-9_]{0,31}$/, 'a word in lower case, such as "trust"'),
  /** Meaning of a high value, in the words of the prompt. */
  about: shortText.optional(),
  /** Value with a stranger. */
  start: value.default(0),
  moves: z
    .array(
      z
        .strictObject({
          /** Words of the user: any of these. */
          said: z.array(shortText).min(1).max(50).optional(),
          /** Words of an event of the game: all of them. */
          event: shortText.optional(),
          by: value,
          /** Reason, which is sent to the game. */
          because: shortText,
        })
        .refine(({ said, event }) => said !== undefined || event !== undefined, 'a move needs "said" or "event"'),
    )
    .max(50)
    .default([]),
});

export type RelationAxis = z.infer<typeof relationAxis>;

/** Values that a line of a game asks for, by axis. */
export const relationRange = z.record(
  z.string().max(32),
  z.strictObject({ min: value.optional(), max: value.optional() }),
);
