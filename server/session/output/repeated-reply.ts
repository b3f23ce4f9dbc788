import type { GoesOn, RepeatedRequest, ReplyRequest, SpokenPhrase } from '../contract/events.ts';
import type { MessageItem } from '../contract/item.ts';

/** Returns what is needed to make a reply again, if that is possible. */
export function repeatedRequest(request: ReplyRequest, speaks: boolean): { readonly again?: RepeatedRequest } {
  const { items, toolbox, scene, maxTokens, situation, goesOn } = request;
  if (items !== undefined || toolbox !== undefined) return {};
  const settings = { ...(scene === undefined ? {} : { scene }), ...(maxTokens === undefined ? {} : { maxTokens }) };
  const before = goesOn && { itemIds: [...goesOn.itemIds], heard: goesOn.heard };
  return {
    again: {
      speaks,
      ...settings,
      ...(situation === undefined ? {} : { situation }),
      ...(before === undefined ? {} : { goesOn: before }),
    },
  };
}

/** The phrase that a reply was saying when it was cut, and how much of the reply the client has: it plays all of that. */
export interface CutPhrase {
  readonly phrase: SpokenPhrase;
  readonly receivedMs: number;
  /** Set if the reply ends with the phrase. */
  readonly isLast?: true;
}

/** Returns the request that makes a reply again; `item`, what was said of it, is not said again. */
export function requestAgain(
  again: RepeatedRequest | undefined,
  item: MessageItem | undefined,
  cut?: CutPhrase,
): ReplyRequest | undefined {
  if (again === undefined) return undefined;
  const { goesOn: earlier = { itemIds: [], heard: '' }, ...request } = again;
  const itemIds = [...earlier.itemIds, ...(item === undefined ? [] : [item.id])];
  if (itemIds.length === 0) return { ...request, inConversation: true };
  return {
    ...request,
    inConversation: true,
    goesOn: { itemIds, ...(restOf(cut) ?? { heard: heardOf(earlier, item) }) },
  };
}

function restOf(cut: CutPhrase | undefined): Pick<GoesOn, 'heard' | 'rest'> | undefined {
  if (cut === undefined) return undefined;
  const { fromMs, ...phrase } = cut.phrase;
  const saidMs = Math.max(0, cut.receivedMs - fromMs);
  return {
    heard: phrase.before + phrase.text,
    rest: { ...phrase, saidMs, ...(cut.isLast === true ? { isLast: true } : {}) },
  };
}

function heardOf(earlier: Pick<GoesOn, 'heard'>, item: MessageItem | undefined): string {
  const part = item?.content[0];
  const said = part?.type === 'text' ? part.text : part?.type === 'audio' ? (part.transcript ?? '') : '';
  return earlier.heard === '' || said === '' ? earlier.heard + said : `${earlier.heard} ${said}`;
}
