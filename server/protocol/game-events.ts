import { z } from 'zod';
import { limits } from './limits.ts';

/** Id or name of something in a game. */
const id = z.string().min(1).max(64);

const responds = z.enum(['silent', 'auto', 'must', 'interrupt']).default('silent');

const eventId = { event_id: z.string().max(512).optional() };

/** JSON schema of one argument of an action. */
const argument = z.looseObject({
  type: z.enum(['string', 'number', 'integer', 'boolean']).optional(),
  enum: z
    .array(z.union([z.string().max(64), z.number()]))
    .min(1)
    .max(32)
    .optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
});

const offer = z.looseObject({
  name: z
    .string()
    .max(64)
    .regex(/^\p{L}[\p{L}\p{N}_-]*$/u),
  about: z.string().max(200).optional(),
  aliases: z.array(id).max(8).optional(),
  target: z.enum(['none', 'object', 'person', 'either']).optional(),
  when: z.enum(['word', 'end']).optional(),
  stops_on_barge_in: z.boolean().optional(),
  args: z
    .looseObject({
      properties: z
        .record(z.string().regex(/^[\p{L}_][\p{L}\p{N}_-]{0,31}$/u), argument)
        .refine((properties) => Object.keys(properties).length <= 8, { error: 'more than 8 arguments' })
        .optional(),
      required: z.array(z.string().max(32)).max(8).optional(),
    })
    .optional(),
});

/** Actions that a game offers to the characters of a session. */
export const actionsSchema = z
  .array(offer)
  .max(64)
  .refine((offers) => new Set(offers.map(({ name }) => name.toLowerCase())).size === offers.length, {
    error: 'two actions have the same name',
  });

const clarity = z.number().min(0).max(1);

const withinCast = <Value>(field: z.ZodType<Value>) =>
  z.record(id, field).refine((named) => Object.keys(named).length <= 32, { error: 'more than 32 names' });

/** Clarity by listener, then by speaker. */
export const hearsSchema = withinCast(withinCast(clarity));

/** Number of a player's audio: bytes 2 and 3 of its binary frames. */
export const playerSchema = z.number().int().min(0).max(65_535);

const player = z.looseObject({
  number: playerSchema,
  name: z
    .string()
    .trim()
    .min(1)
    .max(80)
    .regex(/^[^:\n\r]*$/u),
  user: z.string().min(1).max(limits.userCharacters).optional(),
});

/** The players of a session that has several. */
export const playersSchema = z
  .array(player)
  .max(8)
  .refine((all) => new Set(all.map(({ number }) => number)).size === all.length, {
    error: 'two players have the same number',
  })
  .refine((all) => new Set(all.map(({ name }) => name.toLowerCase())).size === all.length, {
    error: 'two players have the same name',
  });

/** A player as a client names it. */
export type WirePlayer = z.infer<typeof player>;

/** An action as a client offers it. */
export type WireAction = z.infer<typeof offer>;

/** A change of the world of a game. */
export const worldEvent = z.looseObject({
  type: z.literal('x_dramatis.world'),
  ...eventId,
  id: id.optional(),
  set: z
    .record(id, z.union([z.string().max(500), z.number(), z.boolean()]))
    .refine((states) => Object.keys(states).length <= 200, { error: 'more than 200 states' })
    .optional(),
  unset: z.array(id).max(200).optional(),
  objects: z
    .array(
      z.looseObject({
        id,
        name: z.string().min(1).max(100),
        about: z.string().max(300).optional(),
        can: z.array(id).max(16).optional(),
      }),
    )
    .max(200)
    .optional(),
  gone: z.array(id).max(200).optional(),
  attention: id.nullable().optional(),
  events: z
    .array(
      z.looseObject({
        text: z.string().min(1).max(500),
        seen_by: z.array(id).max(32).optional(),
        player: playerSchema.optional(),
        feel: z
          .record(id, z.number().min(-100).max(100))
          .refine((changes) => Object.keys(changes).length <= 16, { error: 'more than 16 changes' })
          .optional(),
      }),
    )
    .max(20)
    .optional(),
  respond: responds,
});

/** Outcome of an action. */
export const actionDoneEvent = z.looseObject({
  type: z.literal('x_dramatis.action_done'),
  ...eventId,
  action_id: z.string().min(1).max(128),
  outcome: z.enum(['done', 'failed', 'refused', 'cancelled']),
  note: z.string().max(500).optional(),
  respond: responds,
});

/** Something of the game that may lead a scene into another section. */
export const triggerEvent = z.looseObject({
  type: z.literal('x_dramatis.trigger'),
  ...eventId,
  name: z
    .string()
    .max(64)
    .regex(/^[\w-]+$/u),
  with: z
    .record(z.string().regex(/^[\w-]{1,64}$/u), z.union([z.string().max(200), z.number(), z.boolean()]))
    .refine((given) => Object.keys(given).length <= 16, { error: 'more than 16 values' })
    .optional(),
});

/** Something that was said, which the player reports. */
export const reportEvent = z.looseObject({
  type: z.literal('x_dramatis.report'),
  ...eventId,
  item_id: z.string().min(1).max(128),
  reason: z.string().max(64).optional(),
  note: z.string().max(1_000).optional(),
});

/** The report in a client's event. */
export type WireReport = z.infer<typeof reportEvent>;

/** The trigger in a client's event. */
export type WireTrigger = z.infer<typeof triggerEvent>;

/** The change of the world in a client's event. */
export type WireWorld = z.infer<typeof worldEvent>;

/** The outcome of an action in a client's event. */
export type WireOutcome = z.infer<typeof actionDoneEvent>;
