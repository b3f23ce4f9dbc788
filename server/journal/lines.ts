import { z } from 'zod';
import { cueKinds } from '../../agents/output/performance.ts';
import { basicEmotions } from '../../agents/feelings.ts';
import { emotions } from '../../characters/emotion.ts';
import { secretTerms } from '../protocol/secret-terms.ts';

const word = z.object({ text: z.string(), startMs: z.number(), endMs: z.number() });
const speaker = z.object({ id: z.string(), name: z.string() });
const action = z.object({
  id: z.string(),
  name: z.string(),
  target: z.string().optional(),
  args: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
  written: z.string(),
  by: speaker.optional(),
  isOff: z.boolean().optional(),
});
const cue = z.object({ kind: z.enum(cueKinds), text: z.string(), startMs: z.number(), action: action.optional() });

/** A change of the world of the client's game. */
export const worldChange = z.object({
  set: z.record(z.string(), z.string()).optional(),
  unset: z.array(z.string()).optional(),
  objects: z
    .array(
      z.object({
        id: z.string(),
        name: z.string(),
        about: z.string().optional(),
        can: z.array(z.string()).optional(),
      }),
    )
    .optional(),
  gone: z.array(z.string()).optional(),
  attention: z.string().nullable().optional(),
  events: z.array(z.object({ text: z.string(), seenBy: z.array(z.string()).optional() })).optional(),
});

const itemFacts = { id: z.string(), status: z.enum(['in_progress', 'completed', 'incomplete']) };
const relationFacts = { character: z.string(), axis: z.string(), value: z.number() };
const felt = { emotion: z.enum(emotions).optional(), intensity: z.number().optional() };
const opaque = { type: z.literal('opaque'), value: z.record(z.string(), z.unknown()) };

/** A message as stored in a journal, without its audio. */
const keptMessage = z.looseObject({
  ...itemFacts,
  type: z.literal('message'),
  role: z.enum(['system', 'user', 'assistant']),
  ...felt,
  speaker: speaker.optional(),
  cues: z.array(cue).optional(),
  heardBy: z.record(z.string(), z.number()).optional(),
  content: z.array(
    z.discriminatedUnion('type', [
      z.looseObject({ type: z.literal('text'), text: z.string() }),
      z.object(opaque),
      z.looseObject({
        type: z.literal('audio'),
        transcript: z.string().nullable(),
        durationMs: z.number(),
        sampleRate: z.number(),
        words: z.array(word),
      }),
    ]),
  ),
});

/** An item as stored in a journal. */
const keptItem = z.discriminatedUnion('type', [
  keptMessage,
  z.object({ ...itemFacts, type: z.literal('call'), callId: z.string(), name: z.string(), arguments: z.string() }),
  z.object({ ...itemFacts, type: z.literal('call-output'), callId: z.string(), output: z.string() }),
  z.object({ ...itemFacts, ...opaque }),
]);

/** Version of the journal's format, in its first line. A change that older versions cannot read raises it. */
export const journalVersion = 4;

/** Phrases of a reply that count: the client may lack the end of the last but one. */
export const keptPhrases = 2;

/** Sounds of phrases that count: of those, and of one that is not begun. */
export const keptSounds = keptPhrases + 1;

/** The section of a scene. */
export const storyPlace = z.object({ section: z.string(), given: z.record(z.string(), z.string()) });

/** Feelings of one character. */
export const keptFeelings = z.object({
  emotions: z.record(z.enum(basicEmotions), z.number()),
  intimacy: z.number(),
});

/** One line of a journal: a change, in the order in which the client learned of the changes. */
export const lineSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('open'),
    version: z.number().max(journalVersion).optional(),
    id: z.string(),
    character: z.string(),
    model: z.string(),
    intent: z.literal('transcription').optional(),
    beta: z.boolean().optional(),
    user: z.string().optional(),
    owner: z.string().optional(),
    bySecret: z.boolean().optional(),
    terms: secretTerms.optional(),
    account: z.string().optional(),
    /** What carried the session; absent: a WebSocket. */
    medium: z.enum(['call', 'phone']).optional(),
  }),
  z.object({
    type: z.literal('session'),
    session: z.looseObject({ id: z.string() }),
    /** Written by `fold`: ids of the items from before the client last changed the scene or the character. */
    before: z.array(z.string()).optional(),
  }),
  /** The client's message is done: if it is sent again, it is ignored. */
  z.object({ type: z.literal('taken'), sequence: z.number() }),
  /** Of the client's messages, none up to this one is needed again. */
  z.object({ type: z.literal('kept'), upTo: z.number() }),
  /** No frame with a higher sequence number has been sent. */
  z.object({ type: z.literal('sequence'), upTo: z.number() }),
  /** Total that the client secret has spent. */
  z.object({
    type: z.literal('spent'),
    spent: z.object({ replies: z.number(), tokens: z.number(), audioMs: z.number(), cost: z.number() }),
  }),
  /** An event that was sent to the client, by the number of its frame; it has all frames up to the one that it acknowledged. */
  z.object({
    type: z.literal('told'),
    sequence: z.number(),
    event: z.record(z.string(), z.unknown()),
    acknowledged: z.number(),
  }),
  z.object({ type: z.literal('item'), item: keptItem, after: z.string().nullable() }),
  z.object({ type: z.literal('transcript'), itemId: z.string(), text: z.string() }),
  /** `again`: what the reply is made from again; absent if that is not possible. */
  z.object({
    type: z.literal('started'),
    replyId: z.string(),
    again: z
      .object({
        scene: z.string().optional(),
        speaks: z.boolean().optional(),
        maxTokens: z.number().optional(),
        sampling: z.object({ seed: z.number().optional(), temperature: z.number().optional() }).optional(),
        situation: z.enum(['greeting', 'idle', 'nod', 'event']).optional(),
        goesOn: z.object({ itemIds: z.array(z.string()), heard: z.string() }).optional(),
      })
      .optional(),
  }),
  z.object({ type: z.literal('speaks'), replyId: z.string(), itemId: z.string() }),
  z.object({ type: z.literal('words'), replyId: z.string(), text: z.string(), words: z.array(word) }),
  z.object({ type: z.literal('cue'), replyId: z.string(), cue }),
  /** The phrase that is being said: what the reply says before it, and where its sound began in the reply. */
  z.object({
    type: z.literal('phrase'),
    replyId: z.string(),
    text: z.string(),
    ...felt,
    before: z.string(),
    fromMs: z.number(),
    needsSound: z.literal(true).optional(),
  }),
  /** The whole sound of a phrase of the reply in progress (`KeptSound`). */
  z.object({
    type: z.literal('sound'),
    text: z.string(),
    before: z.string(),
    packets: z.array(z.string()),
    delaySamples: z.number(),
    pieces: z.array(z.object({ text: z.string(), samples: z.number(), words: z.array(word).optional() })),
  }),
  z.object({ type: z.literal('heard'), replyId: z.string(), heardMs: z.number() }),
  /** Feelings of each speaker when a reply has ended; the id is empty if there is only one character. */
  z.object({ type: z.literal('felt'), feelings: z.record(z.string(), keptFeelings) }),
  z.object({ type: z.literal('ended'), replyId: z.string(), item: keptMessage.optional() }),
  z.object({
    type: z.literal('truncated'),
    itemId: z.string(),
    contentIndex: z.number().default(0),
    heardMs: z.number(),
  }),
  z.object({ type: z.literal('deleted'), itemId: z.string() }),
  z.object({ type: z.literal('world'), change: worldChange }),
  storyPlace.extend({ type: z.literal('section') }),
  /** `with`: the user if absent. */
  z.object({ type: z.literal('relation'), ...relationFacts, with: z.string().optional() }),
]);

export type JournalLine = z.infer<typeof lineSchema>;
export type KeptItem = z.infer<typeof keptItem>;
export type KeptMessage = z.infer<typeof keptMessage>;
