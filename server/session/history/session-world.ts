import { estimateShare } from '../../../agents/llm/token-estimate.ts';
import type { WorldChange, WorldEvent, WorldObject } from '../../../agents/surroundings.ts';
import type { Problem } from '../contract/events.ts';

/** Most of the world in a prompt, in estimated tokens. */
const mostTokens = 2_048;
/**
 * Tokens of a world by the tokens that its letters would be: names, numbers and lists are cut finer than prose (a fifth
 * more by Llama's tokenizer), and the heading and the turn before are read again, too. So the limit holds for both.
 */
const tokensPerEstimate = 1.3;
const mostObjects = 200;
const mostEvents = 20;

/** An event in the order of its coming, from 1 on. */
interface NumberedEvent extends WorldEvent {
  readonly number: number;
}

/** Result of a change of the world. */
export interface TakenChange {
  readonly revision: number;
  readonly tokens: number;
  readonly tokensLeft: number;
  readonly droppedEvents: number;
}

/**
 * The present world of a client's game: states, objects, events. A change is applied completely or not at all, and what
 * a character reads of it is bounded; old events make way for new ones.
 */
export class SessionWorld {
  #states: ReadonlyMap<string, string> = new Map();
  #objects: ReadonlyMap<string, WorldObject> = new Map();
  #attention: string | undefined;
  #events: readonly NumberedEvent[] = [];
  #count = 0;
  #revision = 0;

  get states(): ReadonlyMap<string, string> {
    return this.#states;
  }

  get objects(): ReadonlyMap<string, WorldObject> {
    return this.#objects;
  }

  /** The object that "this" means, if there is one. */
  get attention(): WorldObject | undefined {
    return this.#attention === undefined ? undefined : this.#objects.get(this.#attention);
  }

  /** Number of the latest event; 0 if there was none. */
  get latest(): number {
    return this.#count;
  }

  /** Takes a change, or returns why it is not possible; then nothing has changed. */
  take(change: WorldChange): TakenChange | Problem {
    const { set = {}, unset = [], objects = [], gone = [], events = [] } = change;
    const states = new Map([...this.#states, ...Object.entries(set)]);
    for (const name of unset) states.delete(name);
    const things = new Map([...this.#objects, ...objects.map((object) => [object.id, object] as const)]);
    for (const id of gone) things.delete(id);
    if (things.size > mostObjects) return full(`${mostObjects} objects`);
    const attention = change.attention === undefined ? this.#attention : (change.attention ?? undefined);
    const all = [...this.#events, ...events.map((event, index) => ({ ...event, number: this.#count + index + 1 }))];
    const kept = all.slice(-mostEvents);
    const around = tokensOf(linesOf(states, things, attention === undefined ? undefined : things.get(attention)));
    let tokens = around + tokensOf(kept.map(eventLine));
    // An old event goes; the new ones are why the game sends this.
    while (tokens > mostTokens && kept.length > events.length) {
      kept.shift();
      tokens = around + tokensOf(kept.map(eventLine));
    }
    if (tokens > mostTokens) return full(`${mostTokens} tokens`);
    this.#states = states;
    this.#objects = things;
    this.#attention = attention !== undefined && things.has(attention) ? attention : undefined;
    this.#events = kept;
    this.#count += events.length;
    this.#revision += 1;
    const droppedEvents = all.length - kept.length;
    return { revision: this.#revision, tokens, tokensLeft: mostTokens - tokens, droppedEvents };
  }

  /** Continues with a world of an earlier session, below the entries of this one. Returns the entries that were added. */
  restore(saved: WorldChange): TakenChange & { readonly change: WorldChange } {
    const { events: _told, ...now } = this.asChange();
    const change = {
      ...saved,
      set: { ...saved.set, ...now.set },
      objects: [...(saved.objects ?? []), ...(now.objects ?? [])],
    };
    const taken = this.take(change);
    if ('code' in taken) return { change: {}, revision: this.#revision, tokens: 0, tokensLeft: 0, droppedEvents: 0 };
    return { change, ...taken };
  }

  /** Returns the change that makes an empty world this one. */
  asChange(): WorldChange {
    return {
      set: Object.fromEntries(this.#states),
      objects: [...this.#objects.values()],
      ...(this.#attention === undefined ? {} : { attention: this.#attention }),
      events: this.#events.map(({ text, seenBy }) => ({ text, seenBy })),
    };
  }

  /** Returns what a character knows of it, one fact a line; `since`: number of the last event that is already known. */
  factsFor(characterId: string, since: number): string[] {
    const events = this.#events.filter((event) => isSeenBy(event, characterId));
    return [
      ...linesOf(this.#states, this.#objects, this.attention),
      ...events.map((event) => (event.number > since ? `just now: ${event.text}` : eventLine(event))),
    ].map(onOneLine);
  }

  /** Returns the events after number `since` that a character noticed. */
  newsFor(characterId: string, since: number): string[] {
    const news = this.#events.filter((event) => event.number > since && isSeenBy(event, characterId));
    return news.map(({ text }) => onOneLine(text));
  }
}

/** Returns a world after a change: the given one, or a new one. */
export function worldAfter(world = new SessionWorld(), change: WorldChange): SessionWorld {
  world.take(change);
  return world;
}

function isSeenBy({ seenBy }: WorldEvent, characterId: string): boolean {
  return seenBy === undefined || seenBy.includes(characterId);
}

function linesOf(
  states: ReadonlyMap<string, string>,
  objects: ReadonlyMap<string, WorldObject>,
  attention: WorldObject | undefined,
): string[] {
  const things = [...objects.values()].map(({ id, name, about = '', can = [] }) => {
    const known = [name === id ? '' : name, about, can.length === 0 ? '' : `can: ${can.join(', ')}`];
    return [`object ${id}`, known.filter((text) => text !== '').join('; ')].filter(Boolean).join(': ');
  });
  return [
    ...[...states].map(([name, value]) => `${name}: ${value}`),
    ...things,
    ...(attention === undefined ? [] : [`attention: ${attention.id}`]),
  ];
}

function eventLine({ text }: WorldEvent): string {
  return `happened: ${text}`;
}

function tokensOf(lines: readonly string[]): number {
  return Math.ceil(lines.reduce((sum, line) => sum + tokensPerEstimate * estimateShare(`- ${line}\n`), 0));
}

function onOneLine(text: string): string {
  return text.replaceAll(/\s+/gu, ' ').trim();
}

function full(limit: string): Problem {
  const message = `The world has reached its limit of ${limit}. Remove something from it, or describe it in fewer words.`;
  return { code: 'world_full', message };
}
