import type { Character } from '../../characters/character.ts';
import type { RestoredSession } from '../journal/restore.ts';
import type { Memories } from '../memory/memories.ts';
import type { SessionMemory } from '../memory/session-memory.ts';
import type { OpenedSession } from '../realtime/connection.ts';
import { castIdOf } from '../realtime/wire-scene.ts';
import { sessionIn, type WireSession } from '../realtime/wire-session.ts';
import type { SessionListener } from '../session/contract/events.ts';
import type { MessageItem } from '../session/contract/item.ts';
import type { SessionParts } from '../session/session.ts';
import { PlayerMemories } from './player-memories.ts';
import { followState, type UserState } from './user-state.ts';

interface CastMemoryParts {
  readonly memories: Memories;
  /** Account whose users are remembered. */
  readonly owner: string;
  readonly opened: Character;
  readonly characters: ReadonlyMap<string, Character>;
  readonly told: Parameters<Memories['follow']>[2];
  /** A session that is restored, with the unfinished replies of the previous process. */
  readonly restored?:
    | Pick<RestoredSession, 'session' | 'openReplies' | 'world' | 'relations' | 'relationsWith'>
    | undefined;
}

/** The memories of all characters of one session, each with what it has itself heard, and of each player by itself. */
export interface CastMemory {
  readonly recall: NonNullable<SessionParts['recall']>;
  begin(opened: OpenedSession): SessionListener;
}

/** Follows a session with the memory of the current character: its own, not that of the one before. */
export function followCast({ memories, owner, opened, characters, told, restored }: CastMemoryParts): CastMemory {
  const known = new Map<string, SessionMemory>();
  const players = new PlayerMemories(memories, owner, told);
  let present = castIdOf(restored?.session, opened.id);
  let session: OpenedSession | undefined;
  let user: string | undefined;
  let state: UserState | undefined;
  let followPlayer: Parameters<PlayerMemories['relate']>[0] | undefined;
  /** Words said before a character came are not its memory; `openReplies`: it was there from the start. */
  const join = (openReplies?: readonly MessageItem[]): void => {
    const character = present === opened.id ? opened : characters.get(present);
    const isOtherScene = character?.stage !== undefined && character !== opened;
    if (session === undefined || character === undefined || isOtherScene) return;
    players.join(character, session, openReplies);
    if (known.has(present)) return;
    const memory = memories.follow(owner, character, told);
    if (memory === undefined) return;
    known.set(present, memory);
    memory.begin({ id: session.id, conversation: session.conversation, user, openReplies });
  };
  const presentIds = (): string[] => idsOf(present, present === opened.id ? opened : characters.get(present));
  const changeTo = ({ x_dramatis }: WireSession): void => {
    user = x_dramatis.user ?? undefined;
    present = castIdOf({ x_dramatis }, opened.id);
    for (const memory of known.values()) memory.nameUser(user);
    players.set(x_dramatis.players);
    join();
    state?.follow(user, presentIds(), false);
    if (followPlayer !== undefined) players.relate(followPlayer, presentIds());
  };
  return {
    async recall(history, options) {
      await Promise.all([state?.ready, players.ready]);
      return (await players.of(history, present, known.get(present))?.recall(history, options)) ?? [];
    },
    begin(begun) {
      user = begun.session.x_dramatis.user ?? undefined;
      session = begun;
      players.set(begun.session.x_dramatis.players);
      join(restored?.openReplies.flatMap(({ item }) => item ?? []) ?? []);
      if (memories.state === 'on') {
        const kept = { store: memories.store, owner, restore: begun.restore, onFault: told.onFault };
        followPlayer = (player) => followState({ ...kept, ...player });
        state = followState({ ...kept, world: restored?.world, relations: restored?.relations });
        state.follow(user, presentIds(), restored !== undefined);
        players.relate(followPlayer, presentIds(), restored && (restored.relationsWith ?? {}));
      }
      return {
        note(event) {
          if (event.type === 'updated') changeTo(sessionIn(event));
          const turns = [...known].flatMap(([id, memory]) => memory.note(event, id !== present) ?? []);
          const writes = [...turns, ...players.note(event, present), state?.note(event) ?? []].flat();
          return writes.length === 0 ? undefined : Promise.all(writes).then(() => undefined);
        },
        async end() {
          for (const memory of [...known.values(), ...players.all]) await memory.close();
        },
      };
    },
  };
}

function idsOf(present: string, character: Character | undefined): string[] {
  return [present, ...(character?.stage?.cast ?? []).map(({ id }) => id)];
}
