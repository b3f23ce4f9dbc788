import type { Conversation } from './conversation.ts';
import type { Item } from '../contract/item.ts';
import type { Problem, SessionCommand, SessionEvent } from '../contract/events.ts';

/** A client's command on an item. */
export type ItemCommand = Extract<SessionCommand, { readonly type: `item-${string}` }>;

/** Most items in a conversation; the oldest are not dropped silently, as clients refer to them by id. */
const maxItems = 10_000;

/** Carries out a client's command on an item, or reports why it cannot be carried out. Returns true if it was. */
export function changeItems(
  command: ItemCommand,
  conversation: Conversation,
  emit: (event: SessionEvent) => void,
): boolean {
  const problem = command.type === 'item-add' ? add(command, conversation, emit) : change(command, conversation, emit);
  if (problem === undefined) return true;
  emit({ type: 'problem', problem, ...(command.ref === undefined ? {} : { ref: command.ref }) });
  return false;
}

function add(
  command: Extract<ItemCommand, { type: 'item-add' }>,
  conversation: Conversation,
  emit: (event: SessionEvent) => void,
): Problem | undefined {
  const { item, after } = command;
  if (conversation.get(item.id) !== undefined) {
    return { code: 'item_exists', message: `An item with the id "${item.id}" already exists.`, param: 'item.id' };
  }
  if (after !== undefined && after !== 'root' && conversation.get(after) === undefined)
    return notFound(after, 'previous_item_id');
  if (conversation.items.length >= maxItems) {
    return {
      code: 'conversation_full',
      message: `The conversation has reached its limit of ${maxItems} items. Delete some.`,
    };
  }
  emit({ type: 'item-added', item, previousItemId: conversation.insert(item, after) });
  return undefined;
}

function change(
  command: Exclude<ItemCommand, { type: 'item-add' }>,
  conversation: Conversation,
  emit: (event: SessionEvent) => void,
): Problem | undefined {
  const item = conversation.get(command.id);
  if (command.type === 'item-retrieve') {
    if (item === undefined) return { ...notFound(command.id, 'item_id'), code: 'item_retrieve_invalid_item_id' };
    emit({ type: 'item-retrieved', item });
    return undefined;
  }
  if (item === undefined) return notFound(command.id, 'item_id');
  if (command.type !== 'item-truncate') {
    conversation.delete(item.id);
    emit({ type: 'item-deleted', itemId: item.id });
    return undefined;
  }
  return truncate(command.contentIndex, command.heardMs, item, conversation, emit);
}

/** Truncates an item to what the client heard; a length beyond the end leaves everything. */
function truncate(
  contentIndex: number,
  heardMs: number,
  item: Item,
  conversation: Conversation,
  emit: (event: SessionEvent) => void,
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
