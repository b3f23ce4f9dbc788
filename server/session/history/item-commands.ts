import type { Problem, SessionCommand, SessionEvent } from '../contract/events.ts';
import {
  charactersOf,
  textOf,
  userMessage,
  type Item,
  type Report,
  type ReportedWords,
  type SpokenContent,
} from '../contract/item.ts';
import type { SessionContext } from './context.ts';
import type { Conversation } from './conversation.ts';

/** A client's command on an item. */
export type ItemCommand = Extract<SessionCommand, { readonly type: `item-${string}` }>;
type Emit = (event: SessionEvent) => void;

/** Most items in a conversation; the oldest are not dropped silently, as clients refer to them by id. */
const maxItems = 10_000;

/**
 * Most text of a conversation, in characters: at least forty hours of talk. Beyond it the client can add nothing and
 * ask for no reply; speech continues, because it comes no faster than it is spoken.
 */
const maxCharacters = 4 * 1024 * 1024;

/** Returns a problem if a conversation holds so much text that nothing may be added to it. */
export function fullProblem({ items, characters }: Conversation, added = 0): Problem | undefined {
  const limit =
    items.length >= maxItems
      ? `${maxItems} items`
      : characters + added > maxCharacters
        ? `${maxCharacters / 2 ** 20} Mi characters`
        : undefined;
  if (limit === undefined) return undefined;
  return {
    code: 'conversation_full',
    message: `The conversation has reached its limit of ${limit}. Delete some items.`,
  };
}

/** Carries out a client's command on an item, or reports why it cannot be carried out. Returns true if it was. */
export function changeItems(command: ItemCommand, conversation: Conversation, emit: Emit): boolean {
  const problem = command.type === 'item-add' ? add(command, conversation, emit) : change(command, conversation, emit);
  if (problem === undefined) return true;
  emit({ type: 'problem', problem, ...(command.ref === undefined ? {} : { ref: command.ref }) });
  return false;
}

/** Makes an item of the silence between two points of the audio time. */
export function addSilence(
  { conversation, emit, newId, participants, settings }: SessionContext,
  toMs: number,
  fromMs: number,
): void {
  const { sampleRate } = participants.cast.responder;
  const durationMs = toMs - fromMs;
  const content: SpokenContent = { type: 'audio', transcript: '', durationMs, audio: [], sampleRate, words: [] };
  const item: Item = { ...userMessage(newId('item')), content: [content] };
  emit({ type: 'idle', itemId: item.id, fromMs: Math.round(fromMs), atMs: Math.round(toMs) });
  const previousItemId = conversation.insert(item);
  emit({ type: 'audio-committed', itemId: item.id, previousItemId });
  emit({ type: 'item-added', item, previousItemId });
  if (settings().transcribes) emit({ type: 'transcript-final', itemId: item.id, text: '', audioMs: durationMs });
}

function add(
  command: Extract<ItemCommand, { type: 'item-add' }>,
  conversation: Conversation,
  emit: Emit,
): Problem | undefined {
  const { item, after } = command;
  if (conversation.get(item.id) !== undefined) {
    return { code: 'item_exists', message: `An item with the id "${item.id}" already exists.`, param: 'item.id' };
  }
  if (after !== undefined && after !== 'root' && conversation.get(after) === undefined)
    return notFound(after, 'previous_item_id');
  const full = fullProblem(conversation, charactersOf(item));
  if (full !== undefined) return full;
  emit({ type: 'item-added', item, previousItemId: conversation.insert(item, after) });
  return undefined;
}

function change(
  command: Exclude<ItemCommand, { type: 'item-add' }>,
  conversation: Conversation,
  emit: Emit,
): Problem | undefined {
  const item = conversation.get(command.id);
  if (command.type === 'item-retrieve') {
    if (item === undefined) return { ...notFound(command.id, 'item_id'), code: 'item_retrieve_invalid_item_id' };
    emit({ type: 'item-retrieved', item });
    return undefined;
  }
  if (item === undefined) return notFound(command.id, 'item_id');
  if (command.type === 'item-truncate') return truncate(command, item, conversation, emit);
  conversation.delete(item.id);
  emit({ type: 'item-deleted', itemId: item.id });
  return undefined;
}

/** Truncates an item to what the client heard; a length beyond the end leaves everything. */
function truncate(
  { contentIndex, heardMs }: Extract<ItemCommand, { type: 'item-truncate' }>,
  item: Item,
  conversation: Conversation,
  emit: Emit,
): Problem | undefined {
  const spoken = item.type === 'message' && item.role === 'assistant' ? item : undefined;
  if (spoken?.content[contentIndex]?.type !== 'audio') {
    const message = 'Only audio content of an assistant item can be truncated.';
    const isOther = spoken?.content.some((part) => part.type === 'audio') === true;
    return { code: 'item_not_spoken', message, param: isOther ? 'content_index' : 'item_id' };
  }
  const leftMs = conversation.truncate(spoken, heardMs, contentIndex, true);
  emit({ type: 'item-truncated', itemId: item.id, contentIndex, heardMs: leftMs });
  return undefined;
}

function notFound(id: string, param: string): Problem {
  return { code: 'item_not_found', message: `There is no item with the id "${id.slice(0, 64)}".`, param };
}

/** Reports of one session; a button that is stuck reports no more. */
const mostReports = 20;
/** Messages before the reported one that belong to it. */
const mostBefore = 5;

/** The reports of one session. */
export class Reports {
  #count = 0;

  /** Makes an event of a report; returns the problem if it has too many, or there is no such item. */
  take(items: readonly Item[], report: Report, emit: (event: SessionEvent) => void): Problem | undefined {
    const outcome = reported(items, report, this.#count);
    if ('code' in outcome) return outcome;
    this.#count += 1;
    emit(outcome);
    return undefined;
  }
}

/** Returns the event of a report, with the words around what is reported; the problem if there is no such item. */
function reported(items: readonly Item[], { itemId, reason, note }: Report, before: number): SessionEvent | Problem {
  if (before >= mostReports)
    return {
      code: 'too_many_reports',
      message: `This session has already sent ${mostReports} reports.`,
      param: 'type',
    };
  const at = items.findIndex(({ id }) => id === itemId);
  if (at < 0) return { code: 'item_not_found', message: 'There is no item with this id to report.', param: 'item_id' };
  const said = items.slice(Math.max(0, at - mostBefore), at + 1).flatMap((item): ReportedWords[] => {
    const text = textOf(item);
    return item.type === 'message' && text !== '' ? [{ role: item.role, by: item.speaker?.id, text }] : [];
  });
  return { type: 'reported', itemId, reason, note, said };
}
