import type { Clock } from '../contract/clock.ts';
import type { Conversation } from './conversation.ts';
import type { Item } from '../contract/item.ts';
import { Moods } from './moods.ts';
import type { Cast } from '../contract/responder.ts';

/** The present participants of a session, how they feel, and the items that they know. */
export class Participants {
  readonly #clock: Clock;
  readonly #conversation: Conversation;
  #players: Cast;
  #moods: Moods;
  #before: ReadonlySet<string>;

  /** `before`: ids of items from before they joined, in a conversation that is continued. */
  constructor(
    clock: Clock,
    conversation: Conversation,
    players: Cast,
    before: ReadonlySet<string> = new Set<string>(),
  ) {
    this.#clock = clock;
    this.#conversation = conversation;
    this.#players = players;
    this.#before = before;
    this.#moods = new Moods(clock, players.cast, this.items);
  }

  get players(): Cast {
    return this.#players;
  }

  get moods(): Moods {
    return this.#moods;
  }

  /** The conversation as the participants know it: without what was said before they joined. */
  get items(): readonly Item[] {
    const { items } = this.#conversation;
    return this.#before.size === 0 ? items : items.filter(({ id }) => !this.#before.has(id));
  }

  /** Replaces the participants. */
  change(players: Cast): void {
    this.#players = players;
    this.#before = new Set(this.#conversation.items.map(({ id }) => id));
    this.#moods = new Moods(this.#clock, players.cast);
  }
}
