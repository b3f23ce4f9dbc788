import { sessionIn, type WireSession } from '../realtime/wire-session.ts';
import { withoutLongTexts, type Item, type MessageItem } from '../session/contract/item.ts';
import type { SessionEvent } from '../session/contract/events.ts';
import type { JournalLine, KeptItem, KeptMessage } from './lines.ts';

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
