import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { cueKinds } from '../../agents/output/performance.ts';
import { emotions } from '../../characters/emotion.ts';
import { sessionIn } from '../realtime/wire-session.ts';
import { withoutLongTexts, type Item, type MessageItem } from '../session/contract/item.ts';
import type { SessionEvent } from '../session/contract/events.ts';

const word = z.object({ text: z.string(), startMs: z.number(), endMs: z.number() });
const cue = z.object({ kind: z.enum(cueKinds), text: z.string(), startMs: z.number() });

const itemFacts = { id: z.string(), status: z.enum(['in_progress', 'completed', 'incomplete']) };
const opaque = { type: z.literal('opaque'), value: z.record(z.string(), z.unknown()) };

/** A message as stored in a journal, without its audio. */
const keptMessage = z.looseObject({
  ...itemFacts,
  type: z.literal('message'),
  role: z.enum(['system', 'user', 'assistant']),
  emotion: z.enum(emotions).optional(),
  speaker: z.object({ id: z.string(), name: z.string() }).optional(),
  cues: z.array(cue).optional(),
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
  z.object({
    ...itemFacts,
    type: z.literal('call'),
    callId: z.string(),
    name: z.string(),
    arguments: z.string(),
  }),
  z.object({ ...itemFacts, type: z.literal('call-output'), callId: z.string(), output: z.string() }),
  z.object({ ...itemFacts, ...opaque }),
]);

/** One line of a journal: a change, in the order in which the client was told. */
const lineSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('open'),
    id: z.string(),
    character: z.string(),
    model: z.string(),
    intent: z.literal('transcription').optional(),
    beta: z.boolean().optional(),
    user: z.string().optional(),
  }),
  z.object({ type: z.literal('session'), session: z.looseObject({ id: z.string() }) }),
  /** No frame with a higher sequence number has been sent. */
  z.object({ type: z.literal('sequence'), upTo: z.number() }),
  z.object({ type: z.literal('item'), item: keptItem, after: z.string().nullable() }),
  z.object({ type: z.literal('transcript'), itemId: z.string(), text: z.string() }),
  z.object({ type: z.literal('started'), replyId: z.string() }),
  z.object({ type: z.literal('speaks'), replyId: z.string(), itemId: z.string() }),
  z.object({ type: z.literal('words'), replyId: z.string(), text: z.string(), words: z.array(word) }),
  z.object({ type: z.literal('cue'), replyId: z.string(), cue }),
  z.object({ type: z.literal('heard'), replyId: z.string(), heardMs: z.number() }),
  z.object({ type: z.literal('ended'), replyId: z.string(), item: keptMessage.optional() }),
  z.object({
    type: z.literal('truncated'),
    itemId: z.string(),
    contentIndex: z.number().default(0),
    heardMs: z.number(),
  }),
  z.object({ type: z.literal('deleted'), itemId: z.string() }),
]);

export type JournalLine = z.infer<typeof lineSchema>;
export type KeptItem = z.infer<typeof keptItem>;
export type KeptMessage = z.infer<typeof keptMessage>;

/** Sequence numbers are reserved in blocks, so that most frames need no line. */
const sequenceBlock = 1_000;

/**
 * Write-ahead journal of one session. Each line is appended with a single write, so a kill at any moment loses at most
 * the last line.
 */
export class Journal {
  readonly #file: string;
  readonly #descriptor: number;
  #reserved = 0;
  #closed = false;

  /** Creates the file, or appends to an existing one. */
  constructor(file: string) {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    this.#file = file;
    this.#descriptor = openSync(file, 'a', 0o600);
  }

  write(line: JournalLine): void {
    if (this.#closed) return;
    writeSync(this.#descriptor, `${JSON.stringify(line)}\n`);
  }

  /** Must be called before a frame with this sequence number is sent. */
  reserve(sequence: number): void {
    if (sequence <= this.#reserved) return;
    this.#reserved = sequence + sequenceBlock;
    this.write({ type: 'sequence', upTo: this.#reserved });
  }

  /** Records an event that is about to be sent to the client. */
  note(event: SessionEvent): void {
    for (const line of linesOf(event)) this.write(line);
  }

  /** Records how much of a reply the client has played. */
  heard(replyId: string, heardMs: number): void {
    this.write({ type: 'heard', replyId, heardMs });
  }

  /** Stops recording. The file stays, for another server process to restore. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    closeSync(this.#descriptor);
  }

  /** Deletes the journal of a session that has ended. */
  remove(): void {
    if (this.#closed) return;
    this.close();
    rmSync(this.#file, { force: true });
  }
}

/**
 * Reads a journal; undefined if there is none. Lines that do not parse, such as a last line cut short by a kill, are
 * skipped.
 */
export function readJournal(file: string): JournalLine[] | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
  return text.split('\n').flatMap((row) => {
    try {
      return row === '' ? [] : [lineSchema.parse(JSON.parse(row))];
    } catch {
      return [];
    }
  });
}

/** Path of the journal for a token's hash. */
export function journalFile(dataDir: string, tokenHash: string): string {
  return path.join(dataDir, 'sessions', `${tokenHash}.jsonl`);
}

/** Deletes the journals of sessions that were not resumed within `graceMs` of their last line. */
export function sweepJournals(dataDir: string, graceMs: number): void {
  const folder = path.join(dataDir, 'sessions');
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    return;
  }
  for (const name of names.filter((one) => one.endsWith('.jsonl'))) {
    const file = path.join(folder, name);
    if (Date.now() - statSync(file).mtimeMs > graceMs) rmSync(file, { force: true });
  }
}

function linesOf(event: SessionEvent): JournalLine[] {
  switch (event.type) {
    case 'updated':
      return [{ type: 'session', session: { ...sessionIn(event) } }];
    case 'item-added':
      return [{ type: 'item', item: keptOf(event.item), after: event.previousItemId }];
    case 'transcript-final':
      return [{ type: 'transcript', itemId: event.itemId, text: event.text }];
    case 'item-truncated':
      return [{ type: 'truncated', itemId: event.itemId, contentIndex: event.contentIndex, heardMs: event.heardMs }];
    case 'item-deleted':
      return [{ type: 'deleted', itemId: event.itemId }];
    case 'reply-started':
      return event.inConversation ? [{ type: 'started', replyId: event.replyId }] : [];
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
    case 'reply-cue':
      return event.itemId === null ? [] : [{ type: 'cue', replyId: event.replyId, cue: event.cue }];
    case 'reply-ended':
      return [
        {
          type: 'ended',
          replyId: event.replyId,
          ...(event.item === undefined ? {} : { item: keptMessageOf(event.item) }),
        },
      ];
    default:
      return [];
  }
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
