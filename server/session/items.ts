import type { Conversation, Item } from './conversation.ts';
import type { Problem, SessionCommand, SessionEvent } from './events.ts';

type ItemCommand = Extract<SessionCommand, { readonly type: `item-${string}` }>;

/** Items a conversation may hold; the oldest are not dropped silently, as clients refer to them by id. */
const maxItems = 10_000;

/** Carries out a client's command on an item, or says why it cannot be. */
export function changeItems(
  command: ItemCommand,
  conversation: Conversation,
  emit: (event: SessionEvent) => void,
): void {
  const problem = command.type === 'item-add' ? add(command, conversation, emit) : change(command, conversation, emit);
  if (problem === undefined) return;
  emit({ type: 'problem', problem, ...(command.ref === undefined ? {} : { ref: command.ref }) });
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
    return { code: 'conversation_full', message: `The conversation holds ${maxItems} items, the most it can.` };
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
  if (!isSpokenByCharacter(item)) {
    return {
      code: 'item_not_spoken',
      message: 'Only a spoken item of the assistant can be truncated.',
      param: 'item_id',
    };
  }
  emit({ type: 'item-truncated', itemId: item.id, heardMs: conversation.truncate(item, command.heardMs) });
  return undefined;
}

function isSpokenByCharacter(item: Item): boolean {
  return item.role === 'assistant' && item.content[0]?.type === 'audio';
}

function notFound(id: string, param: string): Problem {
  return { code: 'item_not_found', message: `There is no item with the id "${id.slice(0, 64)}".`, param };
}
