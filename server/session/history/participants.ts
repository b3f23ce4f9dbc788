import type { Clock } from '../contract/clock.ts';
import type { Conversation, Item, Speaker } from './conversation.ts';
import { Moods } from './moods.ts';
import type { Responder } from '../../responders/responder.ts';

/** Who speaks to the user: one character, or those of a scene. */
export interface Players {
  readonly responder: Responder;
  /** Voice without known words that makes them give way, in milliseconds. */
  readonly bargeInMs: number;
  /** How long the user may talk until the next pause brings a nod; absent: for ever. */
  readonly nodEveryMs?: number;
  /** The characters of a scene, who have feelings of their own. */
  readonly cast?: readonly Speaker[];
}

/** Who plays in a session by now, how they feel, and what they have lived through. */
export class Company {
  readonly #clock: Clock;
  readonly #conversation: Conversation;
  #players: Players;
  #moods: Moods;
  #before: ReadonlySet<string>;

  /** `before`: items from before they came, in a conversation that goes on. */
  constructor(
    clock: Clock,
    conversation: Conversation,
    players: Players,
    before: ReadonlySet<string> = new Set<string>(),
  ) {
    this.#clock = clock;
    this.#conversation = conversation;
    this.#players = players;
    this.#before = before;
    this.#moods = new Moods(clock, players.cast, this.items);
  }

  get players(): Players {
    return this.#players;
  }

  /** One reply is followed by the next. */
  get goesOn(): boolean {
    return this.#players.responder.goesOn === true;
  }

  get moods(): Moods {
    return this.#moods;
  }

  /** What they know of the conversation: nothing that was said before they came. */
  get items(): readonly Item[] {
    const { items } = this.#conversation;
    return this.#before.size === 0 ? items : items.filter(({ id }) => !this.#before.has(id));
  }

  /** Others come in their place. */
  change(players: Players): void {
    this.#players = players;
    this.#before = new Set(this.#conversation.items.map(({ id }) => id));
    this.#moods = new Moods(this.#clock, players.cast);
  }
}
