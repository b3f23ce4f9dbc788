import type { Message } from '../../../agents/chat.ts';
import type { Clock } from '../contract/clock.ts';
import type { Conversation } from './conversation.ts';
import { type Item, textOf, type MessageItem, type Speaker } from '../contract/item.ts';
import type { Cast, ReplyOptions } from '../contract/responder.ts';
import { feel, rounded, type FeltEvent } from '../../../agents/scene/feel.ts';
import { asHeard, graspOf, heardByOf, userSpeaks, type Clarity, type Hears } from '../../../agents/scene/hearing.ts';
import type { StoryPlace } from '../../../agents/scene/sections.ts';
import { calmFeelings, type Feelings } from '../../../agents/feelings.ts';
import { isBrokenOff, nameIn } from '../../../agents/scene/next-speaker.ts';
import type { SurroundingsOf, WorldEvent } from '../../../agents/surroundings.ts';
import type { Problem, ReplyRequest, SessionEvent } from '../contract/events.ts';
import { noSections, Story, type Trigger } from './story.ts';
import type { SavedState } from '../contract/settings.ts';
import { nothingAround, Relations } from './relations.ts';

/** The present participants of a session, how they feel, and the items that they know. */
export class Participants {
  readonly #clock: Clock;
  readonly #conversation: Conversation;
  #cast: Cast;
  #moods: Moods;
  #relations: Relations | undefined;
  #story: Story | undefined;
  readonly #emit: (event: SessionEvent) => void;
  readonly #hears: () => Hears | undefined;
  readonly #player: () => Speaker | undefined;
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
      relationsWith,
      story,
      emit = () => undefined,
      hears = () => undefined,
      player = () => undefined,
    }: {
      before?: ReadonlySet<string> | undefined;
      feelings?: CastFeelings;
      relations?: SavedState['relations'];
      relationsWith?: SavedState['relationsWith'];
      story?: StoryPlace | undefined;
      emit?: (event: SessionEvent) => void;
      hears?: () => Hears | undefined;
      player?: () => Speaker | undefined;
    } = {},
  ) {
    this.#clock = clock;
    this.#conversation = conversation;
    this.#cast = cast;
    this.#before = before;
    this.#moods = new Moods(clock, cast.speakers, this.items, feelings);
    this.#emit = emit;
    this.#hears = hears;
    this.#player = player;
    conversation.heardBy = ({ role, speaker }) => {
      if (role === 'user') return this.#clarityOf(speaker?.id);
      return role === 'system' || speaker === undefined ? undefined : this.#clarityOf(speaker.id);
    };
    if ((cast.axes ?? relations ?? relationsWith) !== undefined)
      this.#relations = new Relations(emit, { relations, relationsWith }).cast(cast);
    this.#story = cast.sections && new Story(cast.sections, emit, story);
  }

  get cast(): Cast {
    return this.#cast;
  }

  get moods(): Moods {
    return this.#moods;
  }

  /** Their relations to the user and to players; absent unless a card names axes. */
  get relations(): Relations | undefined {
    return this.#relations;
  }

  /** The sections of the scene; absent if it has none. */
  get story(): Story | undefined {
    return this.#story;
  }

  /** Takes a trigger of the game, or returns why it leads nowhere. */
  trigger(trigger: Trigger): Problem | undefined {
    return this.#story === undefined ? noSections : this.#story.trigger(trigger);
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

  /**
   * Returns a history as the character has heard it, with the names of the players if there are several; in a scene each
   * has heard it otherwise, and it stays whole.
   */
  heard(history: readonly Message[]): readonly Message[] {
    const { id, languages = [] } = this.#cast;
    const isPlain = history.every((one) => one.role !== 'user' || (one.by ?? one.heardBy) === undefined);
    if (id === undefined || isPlain) return history;
    return asHeard(history, id, languages[0]?.startsWith('zh') === true).map((message) =>
      message.role === 'user' && message.by !== undefined
        ? { ...message, text: `${message.by}: ${message.text}` }
        : message,
    );
  }

  /** Returns words of the user as a message that has not been stored. */
  saying(text: string): Message {
    const player = this.#player();
    return { role: 'user', text, ...(player && { by: player.name }), heardBy: this.#clarityOf(player?.id) };
  }

  /** Returns how a speaker, or the user, is heard now; undefined if all hear every word. */
  #clarityOf(speaker: string = userSpeaks): Clarity | undefined {
    const hears = this.#hears();
    return hears && heardByOf(hears, speaker, speaker.startsWith('player-') ? userSpeaks : speaker);
  }

  /** Returns true if a reply would answer the user, whom the only character has not heard. `given`: a history not stored. */
  misses({ situation, items }: ReplyRequest, given?: readonly Message[]): boolean {
    const { id } = this.#cast;
    const answers = situation === undefined || situation === 'nod';
    if (id === undefined || items !== undefined || !answers) return false;
    const last = this.items.findLast((item) => item.type === 'message' && item.role !== 'system');
    const isStored = situation !== 'nod' && given === undefined;
    const stored = last?.type === 'message' && last.role === 'user' ? last.heardBy : undefined;
    const heardBy = isStored ? stored : this.#clarityOf(this.#player()?.id);
    return heardBy !== undefined && graspOf(heardBy, id) === 'nothing';
  }

  /** Returns what each character knows beside the history: its feelings, the game around it, and how it hears. */
  around(game: SurroundingsOf | undefined): Pick<ReplyOptions, 'feelingsOf' | 'surroundings' | 'story'> {
    const known = this.#relations?.within(game) ?? game;
    const hears = this.#hears();
    const hearing: SurroundingsOf = (id) => ({ ...(known?.(id) ?? nothingAround), hears: hears?.[id] });
    const surroundings = hears === undefined ? known : hearing;
    return { feelingsOf: (id) => this.#moods.now(id), surroundings, story: this.#story?.place };
  }

  /** Lets an event move the feelings of those who notice it, before the client gets it. */
  note(event: SessionEvent): void {
    this.#moods.note(event, this.#heardBy(event));
  }

  /** Lets an event that the client has got move relations. */
  noted(event: SessionEvent): void {
    this.#relations?.note(event, this.#heardBy(event), this.#messageOf(event)?.speaker?.id);
  }

  /** Returns how the item of an event was heard; of the only character by the empty id, too. */
  #heardBy(event: SessionEvent): Clarity | undefined {
    const heardBy = this.#messageOf(event)?.heardBy;
    const only = heardBy?.[this.#cast.id ?? ''];
    return only === undefined ? heardBy : { ...heardBy, [alone.id]: only };
  }

  #messageOf(event: SessionEvent): MessageItem | undefined {
    const item =
      'item' in event ? event.item : 'itemId' in event ? this.#conversation.get(event.itemId ?? '') : undefined;
    return item?.type === 'message' ? item : undefined;
  }

  change(cast: Cast): void {
    this.#cast = cast;
    this.#before = new Set(this.#conversation.items.map(({ id }) => id));
    this.#moods = new Moods(this.#clock, cast.speakers);
    this.#story = cast.sections && new Story(cast.sections, this.#emit);
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
      this.#begin(item, item.type === 'message' ? item.heardBy : undefined);
      if (item.type === 'message' && item.role === 'assistant') this.#end(item, false, item.heardBy);
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

  /** `heardBy`: how those heard its item that did not hear every word. */
  note(event: SessionEvent, heardBy?: Clarity): void {
    if (event.type === 'item-added' || event.type === 'reply-item') this.#begin(event.item, heardBy);
    else if (event.type === 'transcript-final') this.#hear(event.text, heardBy);
    else if (event.type === 'reply-item-ended') this.#end(event.item, event.cut, heardBy);
    else if (event.type === 'reply-ended' && event.end.reason === 'turn_detected')
      this.#move(event.item?.speaker?.id ?? alone.id, { type: 'interrupted' });
  }

  #begin(item: Item, heardBy?: Clarity): void {
    if (item.type !== 'message' || item.role === 'system') return;
    if (item.role === 'user') this.#hear(textOf(item), heardBy);
    else if (item.emotion !== undefined)
      this.#move(item.speaker?.id ?? alone.id, { type: 'said', emotion: item.emotion });
  }

  /** Lets the other characters of a scene hear what one has said. */
  #end(item: MessageItem, cut: boolean, heardBy: Clarity | undefined): void {
    if (item.speaker === undefined) return;
    const text = textOf(item);
    if (!cut && isBrokenOff(text)) this.#move(item.speaker.id, { type: 'interrupted' });
    this.#hear(text, heardBy, item.speaker.id);
    this.#lastId = item.speaker.id;
  }

  #hear(text: string, heardBy: Clarity | undefined, fromId?: string): void {
    const others = this.#cast.filter(
      ({ id }) => id !== fromId && (heardBy === undefined || graspOf(heardBy, id) === 'words'),
    );
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
