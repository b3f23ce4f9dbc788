import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import type { Character } from '../../characters/character.ts';
import type { Config } from '../config/config.ts';
import { sorted } from '../protocol/sorted-json.ts';
import type { AsyncStore } from './store/operations.ts';
import type { UserKey } from './store/record.ts';
import type { SavedUser } from './store/saved.ts';

/** Version of the format. A change that older servers cannot read raises it; older saves load for ever. */
export const saveVersion = 1;

/** Turns in a save's `last_turns`, for a game that shows what was said last. */
const shownTurns = 20;

/** Stands for no character among the states. */
const ofUser = '*';

const flag = z.number().int().min(0).max(1);
const text = z.string().max(200_000);
const id = z.string().max(256);
const at = z.number().int();

/** State of a user at one moment, as a game stores it; see `PROTOCOL.md`. */
const contents = z.object({
  object: z.literal('dramatis.save'),
  version: z.number().int().min(1),
  made_at: z.string().max(40),
  /** SHA-256 of each character's card and lines. */
  cards: z.record(id, z.string().max(64)).default({}),
  turns: z
    .array(
      z.object({
        character: id,
        asked: text,
        answered: text,
        at,
        summarised: flag.default(0),
        corrected: flag.default(0),
        extracted: flag.default(0),
      }),
    )
    .max(200_000),
  facts: z
    .array(
      z.object({
        character: id,
        turn: z.number().int().min(0).nullable(),
        topic: text.nullable().default(null),
        text,
        at,
        corrected: flag.default(0),
      }),
    )
    .max(200_000)
    .default([]),
  summaries: z
    .array(z.object({ character: id, text, at, corrected: flag.default(0) }))
    .max(10_000)
    .default([]),
  /** By character, then by name; `*`: of no character, such as the world. */
  state: z.record(id, z.record(z.string().max(64), z.unknown())).default({}),
  last_turns: z.array(z.unknown()).default([]),
});

/** A save: its contents, and the code that shows that this server has made it. */
export type Save = z.infer<typeof contents> & { readonly hmac: string };

/** The reason why something is no save of this server. */
export interface SaveProblem {
  readonly code: 'save_invalid' | 'save_too_new';
  readonly message: string;
}

/** Makes saves of users and loads them. `key`: signs them; all nodes of a server need the same. */
export class Saves {
  readonly #store: Pick<AsyncStore, 'saved' | 'load'>;
  readonly #characters: ReadonlyMap<string, Character>;
  readonly #key: () => string;

  constructor(
    store: Pick<AsyncStore, 'saved' | 'load'>,
    characters: ReadonlyMap<string, Character>,
    key: () => string,
  ) {
    this.#store = store;
    this.#characters = characters;
    this.#key = key;
  }

  /** Returns all that is kept of a user; `only`: with these characters. */
  async save(person: UserKey, only?: readonly string[]): Promise<Save> {
    const { states, ...kept } = await this.#store.saved(person, only);
    const ids = new Set([...kept.turns, ...kept.facts, ...kept.summaries, ...states].map(({ character }) => character));
    const cards = [...ids].toSorted().flatMap((one) => {
      const character = this.#characters.get(one);
      return character === undefined ? [] : [[one, hashOf(character)]];
    });
    const state: Record<string, Record<string, unknown>> = {};
    for (const { character, name, value } of states)
      state[character || ofUser] = { ...state[character || ofUser], [name]: JSON.parse(value) as unknown };
    const made = {
      object: 'dramatis.save' as const,
      version: saveVersion,
      made_at: new Date().toISOString(),
      cards: Object.fromEntries(cards) as Record<string, string>,
      ...kept,
      state,
      last_turns: kept.turns
        .slice(-shownTurns)
        .map(({ character, asked, answered }) => ({ character, asked, answered })),
    } as z.infer<typeof contents>;
    return { ...made, hmac: this.#codeOf(made) };
  }

  /** Returns a save that this server has made, of any version; the problem if it is not a save. */
  read(given: unknown): Save | SaveProblem {
    const { hmac, ...made } = Object(given) as Record<string, unknown>;
    const code = Buffer.from(typeof hmac === 'string' ? hmac : '', 'base64url');
    let right: Buffer;
    try {
      right = Buffer.from(this.#codeOf(made), 'base64url');
    } catch {
      // Nested too deep to be one of ours.
      return tampered;
    }
    if (code.length !== right.length || !timingSafeEqual(code, right)) return tampered;
    if (Number(made['version']) > saveVersion) return tooNew;
    const parsed = contents.safeParse(made);
    if (!parsed.success || typeof hmac !== 'string') return tampered;
    const { turns, facts } = parsed.data;
    return facts.every(({ turn }) => turn === null || turn < turns.length) ? { ...parsed.data, hmac } : tampered;
  }

  /** Replaces the data of a user by a save. Returns the characters that have changed since, or are gone. */
  async load(person: UserKey, save: Save, only?: readonly string[]): Promise<string[]> {
    const { turns, facts, summaries, state, cards } = save;
    const states = Object.entries(state).flatMap(([character, named]) =>
      Object.entries(named).map(([name, value]) => {
        return { character: character === ofUser ? '' : character, name, value: JSON.stringify(value) };
      }),
    );
    const session = `load_${randomBytes(12).toString('base64url')}`;
    const saved: SavedUser = { turns, facts, summaries, states };
    await this.#store.load(person, saved, { session, at: Date.now(), ...(only === undefined ? {} : { only }) });
    return Object.entries(cards).flatMap(([one, hash]) => {
      const character = this.#characters.get(one);
      return character !== undefined && hashOf(character) === hash ? [] : [one];
    });
  }

  #codeOf(made: object): string {
    return createHmac('sha256', this.#key()).update(sorted(made)).digest('base64url');
  }
}

/** Returns the characters in a save. */
export function charactersIn({ turns, facts, summaries, state }: Save): string[] {
  const named = [...turns, ...facts, ...summaries].map(({ character }) => character);
  return [...new Set([...named, ...Object.keys(state)])].filter((one) => one !== ofUser);
}

/**
 * Returns the function that finds the key of saves: the operator's, the one that all nodes share, or one of this
 * server's own, made on first use in the data folder.
 */
export function saveKeyOf({ saveKey, clusterKey, dataDir }: Pick<Config, 'saveKey' | 'clusterKey' | 'dataDir'>) {
  let own: string | undefined;
  return (): string => saveKey ?? clusterKey ?? (own ??= keyIn(dataDir));
}

function keyIn(dataDir: string): string {
  const file = path.join(dataDir, 'saves.key');
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    writeFileSync(file, randomBytes(32).toString('base64url'), { flag: 'wx', mode: 0o600 });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
  }
  return readFileSync(file, 'utf8');
}

function hashOf(character: Character): string {
  return createHash('sha256').update(sorted(character)).digest('base64url');
}

const tampered: SaveProblem = {
  code: 'save_invalid',
  message:
    'This is not a save of this server, or it was changed. Load it unchanged, on a server with the same DRAMATIS_SAVE_KEY.',
};

const tooNew: SaveProblem = {
  code: 'save_too_new',
  message: 'The save was made by a newer version of Dramatis. Update this server.',
};
