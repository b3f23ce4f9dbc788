import type { Message } from '../../agents/chat.ts';
import type { Character } from '../../characters/character.ts';
import type { Memories } from '../memory/memories.ts';
import type { SessionMemory } from '../memory/session-memory.ts';
import type { WirePlayer } from '../protocol/game-events.ts';
import type { OpenedSession } from '../realtime/connection.ts';
import type { SessionEvent } from '../session/contract/events.ts';
import { speakerOf, type SavedState } from '../session/contract/settings.ts';
import { followState, type UserState } from './user-state.ts';
import type { MessageItem } from '../session/contract/item.ts';

/** The memory that one character has of one player. */
interface PlayerMemory {
  readonly character: string;
  readonly number: number;
  readonly memory: SessionMemory;
}

/** Makes the state of one player. */
type FollowPlayer = (parts: Pick<Parameters<typeof followState>[0], 'player' | 'relations'>) => UserState;

/** The memories of the players of a session who name a user, and the relations to them, each by itself. */
export class PlayerMemories {
  readonly #follow: (character: Character) => SessionMemory | undefined;
  readonly #known = new Set<PlayerMemory>();
  readonly #states = new Map<number, UserState>();
  #players: readonly WirePlayer[] = [];

  constructor(memories: Memories, owner: string, told: Parameters<Memories['follow']>[2]) {
    this.#follow = (character) => memories.follow(owner, character, told);
  }

  /** Takes the players from now on; memories of those who have left end. */
  set(players: readonly WirePlayer[] = []): void {
    this.#players = players;
    for (const one of this.#known) {
      const user = players.find(({ number }) => number === one.number)?.user;
      one.memory.nameUser(user);
      if (user !== undefined) continue;
      this.#known.delete(one);
      void one.memory.close();
    }
  }

  /** Begins the memories of a character that is present from now on. */
  join(character: Character, session: OpenedSession, openReplies: readonly MessageItem[] | undefined): void {
    for (const player of this.#players) {
      const { number, user } = player;
      const isKnown = [...this.#known].some((one) => one.number === number && one.character === character.id);
      const memory = user === undefined || isKnown ? undefined : this.#follow(character);
      if (memory === undefined) continue;
      this.#known.add({ character: character.id, number, memory });
      const { id, conversation } = session;
      memory.begin({ id, conversation, user, openReplies, speaker: speakerOf(player).id });
    }
  }

  /** Follows the relations of these characters to each player; `restored`: those of a session that goes on. */
  relate(follow: FollowPlayer, characters: readonly string[], restored?: SavedState['relationsWith']): void {
    for (const number of this.#states.keys())
      if (!this.#players.some((player) => player.number === number)) this.#states.delete(number);
    for (const one of this.#players) {
      const { id } = speakerOf(one);
      const state = this.#states.get(one.number) ?? follow({ player: id, relations: restored?.[id] });
      this.#states.set(one.number, state);
      state.follow(one.user, characters, restored !== undefined);
    }
  }

  /** Settles when the relations to all players are in the session. */
  get ready(): Promise<unknown> {
    return Promise.all([...this.#states.values()].map((state) => state.ready));
  }

  /** Returns what a character remembers of the player who spoke last; `ofUser`, if that is no player. */
  of(history: readonly Message[], character: string, ofUser: SessionMemory | undefined): SessionMemory | undefined {
    const last = history.findLast(({ role }) => role === 'user');
    const by = last?.role === 'user' ? last.by : undefined;
    if (by === undefined) return ofUser;
    const player = this.#players.find(({ name }) => name === by);
    return [...this.#known].find((one) => one.character === character && one.number === player?.number)?.memory;
  }

  /** Stores what an event changes; `present`: the character that is speaking. */
  note(event: SessionEvent, present: string): Promise<void>[] {
    const turns = [...this.#known].flatMap(({ memory, character }) => memory.note(event, character !== present) ?? []);
    return [...turns, ...[...this.#states.values()].flatMap((state) => state.note(event) ?? [])];
  }

  get all(): SessionMemory[] {
    return [...this.#known].map(({ memory }) => memory);
  }
}
