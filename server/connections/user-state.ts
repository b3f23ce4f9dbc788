import { z } from 'zod';
import { feel } from '../../agents/scene/feel.ts';
import { userSpeaks } from '../../agents/scene/hearing.ts';
import type { Feelings } from '../../agents/feelings.ts';
import type { WorldChange } from '../../agents/surroundings.ts';
import { keptFeelings, storyPlace, worldChange } from '../journal/lines.ts';
import type { AsyncStore } from '../memory/store/operations.ts';
import type { MemoryKey } from '../memory/store/record.ts';
import type { SavedState } from '../session/contract/settings.ts';
import type { SessionEvent } from '../session/contract/events.ts';
import { worldAfter, type SessionWorld } from '../session/history/session-world.ts';

interface UserStateParts {
  readonly store: Pick<AsyncStore, 'keepState' | 'states'>;
  readonly owner: string;
  /** World of a session that is restored, and its relations to this user. */
  readonly world?: WorldChange | undefined;
  readonly relations: SavedState['relations'];
  /** Id of a player as a speaker, of whom only relations are kept; the user of the session unless given. */
  readonly player?: string;
  /** Applies the stored state to the session; settles once it is in effect. */
  readonly restore: (state: SavedState) => Promise<void>;
  readonly onFault: (fault: unknown) => void;
}

/** State of a session's user beside memories: how each character feels, the world of the game, and the section of the scene. */
export interface UserState {
  /** Settles when the state of the present user and character is in the session. Never rejects. */
  readonly ready: Promise<void>;
  /** Changes the user or the characters, the first of them the scene if it is one; `isKnown`: the session has their state. */
  follow(user: string | undefined, characters: readonly string[], isKnown: boolean): void;
  /** Stores the changes of an event; undefined if it changes nothing. Never rejects. */
  note(event: SessionEvent): Promise<void> | undefined;
}

/** State of no character. */
const ofUser = '';

const valuesOf = z.record(z.string(), z.number());

const feelingsOf = z.union([keptFeelings, z.record(z.string(), keptFeelings)]);

export function followState(parts: UserStateParts): UserState {
  const { store, owner, world: before, relations = {}, player, restore, onFault } = parts;
  const speaker = player ?? userSpeaks;
  let bond: MemoryKey | undefined;
  let world: SessionWorld | undefined = before && worldAfter(undefined, before);
  let ready = Promise.resolve();
  const kept = new Map<string, string>();
  const related = new Map(Object.entries(relations));
  const load = async (of: MemoryKey, characters: readonly string[]): Promise<void> => {
    const states = await store.states(of, characters);
    const state = stateIn(states, Date.now());
    // A player without stored relations starts as the card says, even if another had the number before.
    if (player !== undefined) await restore({ relationsWith: { [player]: state.relations ?? {} } });
    else if (states.length > 0) await restore(state);
  };
  const keep = async (of: MemoryKey, name: string, state: unknown): Promise<void> => {
    const key = `${of.character} ${name}`;
    const value = JSON.stringify(state);
    if (kept.get(key) === value) return;
    kept.set(key, value);
    await store.keepState(of, { name, value, at: Date.now() }).catch((fault: unknown) => {
      kept.delete(key);
      onFault(fault);
    });
  };
  return {
    get ready() {
      return ready;
    },
    follow(user, characters, isKnown) {
      const [character = ''] = characters;
      if (user === undefined || (bond?.user === user && bond.character === character)) return;
      bond = { owner, user, character };
      kept.clear();
      // Those of the user who had the number before.
      if (player !== undefined && !isKnown) related.clear();
      if (!isKnown) ready = load(bond, characters).catch(onFault);
    },
    note(event) {
      if (event.type === 'world-taken') world = worldAfter(world, event.change);
      const isRelation = event.type === 'relation' && event.with === speaker;
      if (isRelation) related.set(event.character, { ...related.get(event.character), [event.axis]: event.value });
      if (bond === undefined) return undefined;
      if (isRelation) return keep({ ...bond, character: event.character }, 'relations', related.get(event.character));
      if (player !== undefined) return undefined;
      if (event.type === 'world-taken' && world !== undefined)
        return keep({ ...bond, character: ofUser }, 'world', world.asChange());
      if (event.type === 'section') return keep(bond, 'section', { section: event.section, given: event.given });
      // A scene that has been played to its end begins again next time.
      if (event.type === 'reply-ended' && event.end.rest === 'scene-end') return keep(bond, 'section', null);
      if (event.type !== 'reply-ended' || event.item === undefined) return undefined;
      return keep(bond, 'feelings', event.end.castFeelings ?? event.end.feelings);
    },
  };
}

/** Returns the state of a session from the stored state. Feelings fade between sessions. */
function stateIn(states: Awaited<ReturnType<AsyncStore['states']>>, nowMs: number): SavedState {
  const related = states.flatMap(({ character, name, value }) => {
    const values = name === 'relations' ? valuesOf.safeParse(JSON.parse(value)).data : undefined;
    return values === undefined ? [] : [[character, values] as const];
  });
  const found = (name: string) => states.find((state) => state.name === name);
  const [felt, world, section] = [found('feelings'), found('world'), found('section')];
  const feelings = felt && feelingsOf.safeParse(JSON.parse(felt.value)).data;
  const rested = ({ emotions, intimacy }: Feelings): Feelings =>
    feel({ emotions, intimacy }, { type: 'time', ms: nowMs - (felt?.at ?? nowMs) });
  const byId =
    feelings && ('emotions' in feelings ? { '': feelings as Feelings } : (feelings as Record<string, Feelings>));
  return {
    feelings: byId && Object.fromEntries(Object.entries(byId).map(([id, one]) => [id, rested(one)])),
    relations: Object.fromEntries(related),
    world: world && worldChange.safeParse(JSON.parse(world.value)).data,
    story: section && storyPlace.safeParse(JSON.parse(section.value)).data,
  };
}
