import type { Message } from '../../../agents/chat.ts';
import type { Clock } from '../contract/clock.ts';
import type { Conversation } from './conversation.ts';
import { type CallItem, type Item, textOf, type MessageItem, type PlacedCue, type Speaker } from '../contract/item.ts';
import type { Cast } from '../contract/responder.ts';
import { feel, rounded, type FeltEvent } from '../../../agents/scene/feel.ts';
import { calmFeelings, type Feelings } from '../../../agents/feelings.ts';
import { isBrokenOff, nameIn } from '../../../agents/scene/next-speaker.ts';
import type { WorldEvent } from '../../../agents/surroundings.ts';
import type { SessionEvent } from '../contract/events.ts';
import { Relations, type RelationValues } from './relations.ts';

/** The present participants of a session, how they feel, and the items that they know. */
export class Participants {
  readonly #clock: Clock;
  readonly #conversation: Conversation;
  #cast: Cast;
  #moods: Moods;
  #relations: Relations | undefined;
  readonly #emit: (event: SessionEvent) => void;
  #before: ReadonlySet<string>;

  /** `before`: ids of items from before they joined, in a conversation that is continued; `feelings`: those they had. */
  constructor(
    clock: Clock,
    conversation: Conversation,
    cast: Cast,
    {
      before = new Set<string>(),
      feelings,
      relations,
      emit = () => undefined,
    }: {
      before?: ReadonlySet<string> | undefined;
      feelings?: CastFeelings;
      relations?: RelationValues | undefined;
      emit?: (event: SessionEvent) => void;
    } = {},
  ) {
    this.#clock = clock;
    this.#conversation = conversation;
    this.#cast = cast;
    this.#before = before;
    this.#moods = new Moods(clock, cast.speakers, this.items, feelings);
    this.#emit = emit;
    if (cast.axes !== undefined || relations !== undefined) this.#relations = new Relations(emit, relations).cast(cast);
  }

  get cast(): Cast {
    return this.#cast;
  }

  get moods(): Moods {
    return this.#moods;
  }

  /** How they stand with the user; absent unless a card names axes. */
  get relations(): Relations | undefined {
    return this.#relations;
  }

  /** Lets an event of the game move the feelings and relations of those who notice it. */
  feel(event: WorldEvent): void {
    const { seenBy, feel: change } = event;
    const present = this.#cast.speakers?.map(({ id }) => [id, id] as const) ?? [
      [this.#cast.id ?? '', alone.id] as const,
    ];
    for (const [id, who] of present) if (change && seenBy?.includes(id) !== false) this.#moods.happen(who, change);
    this.#relations?.feel(event);
  }

  /** The conversation as the participants know it: without what was said before they joined. */
  get items(): readonly Item[] {
    const { items } = this.#conversation;
    return this.#before.size === 0 ? items : items.filter(({ id }) => !this.#before.has(id));
  }

  change(cast: Cast): void {
    this.#cast = cast;
    this.#before = new Set(this.#conversation.items.map(({ id }) => id));
    this.#moods = new Moods(this.#clock, cast.speakers);
    if (cast.axes !== undefined || this.#relations !== undefined)
      this.#relations = (this.#relations ?? new Relations(this.#emit)).cast(cast);
  }
}

/** Feelings by id of the participant. */
type CastFeelings = Readonly<Record<string, Feelings>> | undefined;

const alone: Speaker = { id: '', name: '' };

/**
 * Present feelings of each speaker of a session, moved by the events that the client gets. In a scene, words move the
 * character they name; if they name none, the one who spoke before; otherwise all.
 */
export class Moods {
  readonly #clock: Clock;
  readonly #cast: readonly Speaker[];
  readonly #feelings: Map<string, Feelings>;
  #lastId: string | undefined;
  #atMs: number;

  /** `cast`: characters of a scene; `items`, `feelings`: of a conversation that is continued. */
  constructor(clock: Clock, cast: readonly Speaker[] = [], items: readonly Item[] = [], feelings?: CastFeelings) {
    this.#clock = clock;
    this.#cast = cast.length === 0 ? [alone] : cast;
    this.#feelings = new Map(this.#cast.map(({ id }) => [id, calmFeelings]));
    this.#atMs = clock.now();
    for (const item of items) {
      this.#begin(item);
      if (item.type === 'message' && item.role === 'assistant') this.#end(item, false);
    }
    for (const [id, felt] of Object.entries(feelings ?? {})) this.#feelings.set(id, felt);
  }

  /** Takes over the feelings of an earlier session, of those who are present. */
  restore(feelings: CastFeelings): void {
    this.#rest();
    for (const [id, felt] of Object.entries(feelings ?? {})) if (this.#feelings.has(id)) this.#feelings.set(id, felt);
  }

  /** Returns feelings in whole numbers; `hearing`: as if this had just been heard too. An unknown speaker is calm. */
  now(who = alone.id, hearing?: string): Feelings {
    this.#rest();
    const feelings = this.#feelings.get(who) ?? calmFeelings;
    return rounded(hearing === undefined ? feelings : feel(feelings, { type: 'heard', text: hearing }));
  }

  /** Feelings of all characters of a scene; undefined if there is only one speaker. */
  get ofCast(): Readonly<Record<string, Feelings>> | undefined {
    if (this.#cast[0] === alone) return undefined;
    return Object.fromEntries(this.#cast.map(({ id }) => [id, this.now(id)]));
  }

  /** Something of the game happens to one of them. */
  happen(who: string, change: Readonly<Record<string, number>>): void {
    this.#move(who, { type: 'happened', change });
  }

  note(event: SessionEvent): void {
    if (event.type === 'item-added' || event.type === 'reply-item') this.#begin(event.item);
    else if (event.type === 'transcript-final') this.#hear(event.text);
    else if (event.type === 'reply-item-ended') this.#end(event.item, event.cut);
    else if (event.type === 'reply-ended' && event.end.reason === 'turn_detected')
      this.#move(event.item?.speaker?.id ?? alone.id, { type: 'interrupted' });
  }

  #begin(item: Item): void {
    if (item.type !== 'message' || item.role === 'system') return;
    if (item.role === 'user') this.#hear(textOf(item));
    else if (item.emotion !== undefined)
      this.#move(item.speaker?.id ?? alone.id, { type: 'said', emotion: item.emotion });
  }

  /** Lets the other characters of a scene hear what one has said. */
  #end(item: MessageItem, cut: boolean): void {
    if (item.speaker === undefined) return;
    const text = textOf(item);
    if (!cut && isBrokenOff(text)) this.#move(item.speaker.id, { type: 'interrupted' });
    this.#hear(text, item.speaker.id);
    this.#lastId = item.speaker.id;
  }

  #hear(text: string, fromId?: string): void {
    const others = this.#cast.filter(({ id }) => id !== fromId);
    // Nobody can be singled out among one.
    const named =
      others.length < 2 ? undefined : (nameIn(text, others) ?? others.find(({ id }) => id === this.#lastId));
    for (const { id } of named === undefined ? others : [named]) this.#move(id, { type: 'heard', text });
  }

  #move(who: string, event: FeltEvent): void {
    this.#rest();
    const feelings = this.#feelings.get(who);
    if (feelings !== undefined) this.#feelings.set(who, feel(feelings, event));
  }

  #rest(): void {
    const nowMs = this.#clock.now();
    for (const [id, feelings] of this.#feelings)
      this.#feelings.set(id, feel(feelings, { type: 'time', ms: nowMs - this.#atMs }));
    this.#atMs = nowMs;
  }
}

const noResultYet = 'There is no result yet.';

/**
 * Builds the history for the LLM: oldest first, without messages that have no words. A tool call stands directly before
 * its result. A call without a result says so, so that it is not repeated; a result without its call is left out.
 */
export function messagesOf(items: readonly Item[]): Message[] {
  const outputs = new Map(items.flatMap((item) => (item.type === 'call-output' ? [[item.callId, item.output]] : [])));
  const messages: Message[] = [];
  let calls: CallItem[] = [];
  const closeCalls = (): void => {
    if (calls.length > 0) messages.push(...answered(calls, outputs));
    calls = [];
  };
  for (const item of items) {
    // Adjacent calls were made at once.
    if (item.type === 'call') calls.push(item);
    else if (item.type !== 'opaque') closeCalls();
    if (item.type !== 'message') continue;
    const text = textOf(item);
    if (text === '') continue;
    const { role, speaker } = item;
    if (role !== 'assistant') messages.push({ role, text });
    else messages.push({ role, ...(speaker && { name: speaker.name }), text: actedText(item, text) });
  }
  closeCalls();
  return messages;
}

function answered(calls: readonly CallItem[], outputs: ReadonlyMap<string, string>): Message[] {
  return [
    {
      role: 'assistant',
      text: '',
      calls: calls.map(({ callId, name, arguments: text }) => ({ callId, name, arguments: text })),
    },
    ...calls.map(({ callId }): Message => ({ role: 'tool', callId, text: outputs.get(callId) ?? noResultYet })),
  ];
}

/**
 * Returns the text of a character's message as a chat model reads it: its actions in the game stand where they took
 * place; in a scene, all actions, which the others saw, stand before the words, which they heard.
 */
function actedText(item: MessageItem, text: string): string {
  const seen = (item.cues ?? []).filter(({ kind, action }) => kind === 'action' && action?.isOff !== true);
  const part = item.content[0];
  const words = part?.type === 'audio' && item.content.length === 1 ? part.words : [];
  const isPlaced = ({ action, startMs }: PlacedCue): boolean =>
    action !== undefined && (words[0]?.startMs ?? 0) < startMs;
  const first = seen.filter((cue) => !isPlaced(cue) && (cue.action ?? item.speaker) !== undefined);
  const placed = seen.filter(isPlaced);
  if (placed.length === 0) return [...first.map(writtenCue), text].join(' ');
  let told = '';
  for (const word of words) {
    for (const cue of placed.splice(0, placed.filter(({ startMs }) => startMs <= word.startMs).length))
      told = `${told.trimEnd()} ${writtenCue(cue)} `;
    told += word.text;
  }
  const dash = text.endsWith('—') && !told.trimEnd().endsWith('—') ? '—' : '';
  return [...first.map(writtenCue), told.trim() + dash, ...placed.map(writtenCue)].join(' ');
}

function writtenCue({ text, action }: PlacedCue): string {
  return `(${action?.written ?? text})`;
}
