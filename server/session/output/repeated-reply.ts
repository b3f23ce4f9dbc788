import type { RepeatedRequest, ReplyRequest } from '../contract/events.ts';
import type { MessageItem } from '../contract/item.ts';

/** Returns what is needed to make a reply again, if that is possible. */
export function repeatedRequest(request: ReplyRequest, speaks: boolean): { readonly again?: RepeatedRequest } {
  const { items, toolbox, scene, maxTokens, situation } = request;
  if (items !== undefined || toolbox !== undefined) return {};
  const settings = { ...(scene === undefined ? {} : { scene }), ...(maxTokens === undefined ? {} : { maxTokens }) };
  return { again: { speaks, ...settings, ...(situation === undefined ? {} : { situation }) } };
}

/** Returns the request that makes a reply again; `item`, what was heard of it, is not said again. */
export function requestAgain(
  again: RepeatedRequest | undefined,
  item: MessageItem | undefined,
): ReplyRequest | undefined {
  if (again === undefined) return undefined;
  const part = item?.content[0];
  const heard = part?.type === 'text' ? part.text : part?.type === 'audio' ? (part.transcript ?? '') : '';
  return { ...again, inConversation: true, ...(item === undefined ? {} : { goesOn: { itemId: item.id, heard } }) };
}
