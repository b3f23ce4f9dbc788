import { z } from 'zod';
import { cueKinds } from '../../agents/output/performance.ts';
import { basicEmotions } from '../../agents/feelings.ts';
import { emotions } from '../../characters/emotion.ts';
import { secretTerms } from '../protocol/secret-terms.ts';
import { sessionIn, type WireSession } from '../realtime/wire-session.ts';
import { withoutLongTexts, type Item, type MessageItem } from '../session/contract/item.ts';
import type { SessionEvent } from '../session/contract/events.ts';

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
export const journalVersion = 3;

/** Phrases of a reply that count: the client may lack the end of the last but one. */
export const keptPhrases = 2;

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

/** Returns the line that records the settings of a session; not its resume token, which is a key. */
export function sessionLine(session: WireSession): JournalLine {
  const { resume: _, ...about } = session.x_dramatis as WireSession['x_dramatis'] & { readonly resume?: unknown };
  return { type: 'session', session: { ...session, x_dramatis: about } };
}

/** Returns the lines that record an event, and its marks. */
export function linesOf(event: SessionEvent): JournalLine[] {
  const { taken, kept } = event;
  return [
    ...changesOf(event),
    ...(taken === undefined ? [] : [{ type: 'taken' as const, sequence: taken }]),
    ...(kept === undefined ? [] : [{ type: 'kept' as const, upTo: kept }]),
  ];
}

function changesOf(event: SessionEvent): JournalLine[] {
  switch (event.type) {
    case 'updated':
      return [sessionLine(sessionIn(event))];
    case 'reply-started':
    case 'reply-item':
    case 'reply-call':
    case 'reply-text':
    case 'reply-audio':
    case 'reply-cue':
    case 'reply-ended':
      return changesOfReply(event);
    case 'section':
      return [{ type: 'section', section: event.section, given: { ...event.given } }];
    case 'relation':
      return [{ type: 'relation', character: event.character, with: event.with, axis: event.axis, value: event.value }];
    case 'world-taken':
      return [{ type: 'world', change: event.change as Extract<JournalLine, { type: 'world' }>['change'] }];
    case 'item-added':
      return [{ type: 'item', item: keptOf(event.item), after: event.previousItemId }];
    case 'transcript-failed':
      return [{ type: 'transcript', itemId: event.itemId, text: '' }];
    case 'transcript-final':
    case 'understood':
      return [{ type: 'transcript', itemId: event.itemId, text: event.text }];
    case 'item-truncated':
      return [{ type: 'truncated', itemId: event.itemId, contentIndex: event.contentIndex, heardMs: event.heardMs }];
    case 'item-deleted':
      return [{ type: 'deleted', itemId: event.itemId }];
    default:
      return [];
  }
}

type ReplyEvent = Extract<
  SessionEvent,
  { type: `reply-${'started' | 'item' | 'call' | 'text' | 'audio' | 'cue' | 'ended'}` }
>;

function changesOfReply(event: ReplyEvent): JournalLine[] {
  switch (event.type) {
    case 'reply-started':
      return event.inConversation ? [startedLine(event)] : [];
    case 'reply-item':
      if (!event.inConversation) return [];
      return [
        { type: 'item', item: emptied(event.item), after: event.previousItemId },
        { type: 'speaks', replyId: event.replyId, itemId: event.item.id },
      ];
    case 'reply-call':
      return event.inConversation ? [{ type: 'item', item: keptOf(event.item), after: event.previousItemId }] : [];
    case 'reply-text':
      return [{ type: 'words', replyId: event.replyId, text: event.text, words: [...event.words] }];
    case 'reply-audio':
      return event.phrase === undefined ? [] : [{ type: 'phrase', replyId: event.replyId, ...event.phrase }];
    case 'reply-cue':
      return event.itemId === null ? [] : [{ type: 'cue', replyId: event.replyId, cue: event.cue }];
    case 'reply-ended':
      return [
        {
          type: 'ended',
          replyId: event.replyId,
          ...(event.item === undefined ? {} : { item: keptMessageOf(event.item) }),
        },
        { type: 'felt', feelings: { ...(event.end.castFeelings ?? { '': event.end.feelings }) } },
      ];
  }
}

function startedLine({ replyId, again }: Extract<SessionEvent, { type: 'reply-started' }>): JournalLine {
  return { type: 'started', replyId, ...(again === undefined ? {} : { again }) };
}

function keptOf(item: Item): KeptItem {
  return item.type === 'message' ? keptMessageOf(item) : { ...item };
}

/** Converts a message to its journal form: everything but audio and images. */
export function keptMessageOf(item: MessageItem): KeptMessage {
  const content = item.content.map((part) => {
    if (part.type === 'text') return { ...part };
    if (part.type === 'opaque') return { ...part, value: withoutLongTexts(part.value) };
    const { type, transcript, durationMs, sampleRate, words } = part;
    return { type, transcript, durationMs, sampleRate, words };
  });
  return { ...item, content };
}

/** The item of a reply as it was when its first audio went out; its words follow in lines of their own. */
function emptied(item: MessageItem): KeptMessage {
  const kept = keptMessageOf(item);
  const content = kept.content.map((part) => {
    if (part.type === 'opaque') return part;
    return part.type === 'text' ? { ...part, text: '' } : { ...part, transcript: '', durationMs: 0, words: [] };
  });
  return { ...kept, cues: undefined, content };
}
