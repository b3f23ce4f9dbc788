import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { Card, DialoguePair } from '../../characters/card.ts';
import { loadCharacter, type Character } from '../../characters/character.ts';
import {
  readAssets,
  readPicture,
  readSource,
  writePack,
  writePicture,
  type PackFiles,
} from '../../characters/pack-folder.ts';
import { slugOf } from '../../characters/slug.ts';
import type { Config } from '../config/config.ts';
import { makeDataDir } from '../config/data-dir.ts';
import type { Problem } from '../session/contract/events.ts';

/**
 * Thrown by the character store if it refuses an operation. The message is shown to the user as it stands, in a
 * response or on the terminal.
 */
export class CharacterStoreError extends Error {
  readonly status: 403 | 404 | 409 | 412;
  readonly problem: Problem;

  constructor(status: CharacterStoreError['status'], problem: Problem) {
    super(problem.message);
    this.status = status;
    this.problem = problem;
  }

  get code(): Problem['code'] {
    return this.problem.code;
  }
}

/** The packs shipped with Dramatis. */
const builtIn = path.join(import.meta.dirname, '../../characters');

/**
 * The characters of a server, to read and change. Only imported ones, in the data folder, can be changed; shipped packs
 * and those of the operator's own folder are read-only. A change takes effect with the next conversation. Changes run
 * one after the other, so that a revision check still holds when the change is made.
 */
export class CharacterStore {
  readonly #characters: Map<string, Character>;
  readonly #imported: string;
  /** The operator's own packs; they take precedence over imported ones. */
  readonly #own: string | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /** @param characters the characters the server uses; changes are written into this map too */
  constructor(characters: Map<string, Character>, config: Pick<Config, 'dataDir' | 'charactersDir'>) {
    this.#characters = characters;
    this.#imported = path.resolve(config.dataDir, 'characters');
    this.#own = config.charactersDir;
  }

  /** Returns a character. Throws `unknown_character`, also for a scene. */
  find(id: string): Character {
    const found = this.#characters.get(id);
    if (found !== undefined && found.stage === undefined) return found;
    const message = `There is no character "${id.slice(0, 64)}".`;
    throw new CharacterStoreError(404, { code: 'unknown_character', message });
  }

  isEditable(id: string): boolean {
    return isIn(this.#imported, id) && !(this.#own !== undefined && isIn(this.#own, id));
  }

  /** The files of a pack besides its card and lines. */
  async extrasOf(id: string): Promise<Pick<PackFiles, 'source' | 'picture' | 'files'>> {
    const folder = path.join(this.#imported, id);
    const [source, picture, files] = await Promise.all([readSource(folder), readPicture(folder), readAssets(folder)]);
    return { files, ...(source === undefined ? {} : { source }), ...(picture === undefined ? {} : { picture }) };
  }

  /** Adds a new pack. If the id is taken, `beside` picks a free one; otherwise `character_exists` is thrown. */
  async add(pack: PackFiles, beside = false): Promise<Character> {
    return this.#inTurn(async () => {
      // A pack that cannot be read still occupies its folder.
      const isTaken = (id: string): boolean => this.#characters.has(id) || isIn(this.#imported, id);
      const taken = isTaken(pack.card.id);
      if (taken && !beside) throw exists(pack.card.id);
      makeDataDir(this.#imported);
      const id = taken ? freeId(pack.card.id, isTaken) : pack.card.id;
      await writePack(this.#imported, { ...pack, card: { ...pack.card, id } });
      return this.#put(this.#imported, id);
    });
  }

  /**
   * Saves an edited character. Throws `character_changed` if `revisions` is given and does not contain the current
   * revision.
   */
  async replace({ card, lines }: Pick<PackFiles, 'card' | 'lines'>, revisions: string | undefined): Promise<Character> {
    return this.#inTurn(async () => {
      this.#editable(card.id, revisions);
      await writePack(this.#imported, { card, lines, ...(await this.extrasOf(card.id)) }, true);
      return this.#put(this.#imported, card.id);
    });
  }

  async setPicture(id: string, picture: Uint8Array): Promise<void> {
    await this.#inTurn(async () => {
      this.#editable(id, undefined);
      await writePicture(path.join(this.#imported, id), picture);
    });
  }

  /** Deletes an imported character. Throws like `replace`. A shipped character that it had replaced comes back. */
  async remove(id: string, revisions: string | undefined): Promise<void> {
    await this.#inTurn(async () => {
      const { name } = this.#editable(id, revisions);
      const isShipped = isIn(builtIn, id);
      const scene = sceneWith(id, this.#characters);
      if (scene !== undefined && !isShipped) throw inScene(name, scene);
      await rm(path.join(this.#imported, id), { recursive: true });
      if (isShipped) await this.#put(builtIn, id);
      else this.#characters.delete(id);
    });
  }

  #editable(id: string, revisions: string | undefined): Character {
    const found = this.find(id);
    if (!this.isEditable(id)) throw readOnly(id);
    if (revisions !== undefined && !isAmong(revisionOf(found), revisions)) throw changed(found.name);
    return found;
  }

  async #put(parent: string, id: string): Promise<Character> {
    const read = await loadCharacter(path.join(parent, id));
    this.#characters.set(id, read);
    recast(this.#characters, read);
    return read;
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }
}

function isIn(parent: string, id: string): boolean {
  return existsSync(path.join(parent, id, 'card.json'));
}

/** A strong entity tag (RFC 9110 §8.8.3) of the current state of a character. */
export function revisionOf({ lines, ...card }: { readonly lines: readonly DialoguePair[] } & Card): string {
  return `"${createHash('sha256')
    .update(JSON.stringify([card, lines]))
    .digest('base64url')
    .slice(0, 22)}"`;
}

/** An unused id, derived from `name`. */
function freeId(name: string, isTaken: (id: string) => boolean): string {
  const slug = slugOf(name);
  for (let number = 1; ; number += 1) {
    const id = number === 1 ? slug : `${slug.slice(0, 58).replace(/-$/, '')}-${number}`;
    if (!isTaken(id)) return id;
  }
}

/** Updates the cast of every scene that has the changed character. */
function recast(characters: Map<string, Character>, changed: Character): void {
  for (const [id, { stage, ...scene }] of characters) {
    if (stage?.cast.some((each) => each.id === changed.id) !== true) continue;
    const cast = stage.cast.map((each) => (each.id === changed.id ? changed : each));
    characters.set(id, Object.freeze({ ...scene, stage: { ...stage, cast } }));
  }
}

function sceneWith(id: string, characters: ReadonlyMap<string, Character>): string | undefined {
  return [...characters.values()].find(({ stage }) => stage?.cast.some((each) => each.id === id))?.name;
}

/** Matches an If-Match header: a list of entity tags, or `*` (RFC 9110 §13.1.1). */
function isAmong(revision: string, revisions: string): boolean {
  return revisions.split(',').some((each) => each.trim() === '*' || each.trim() === revision);
}

function exists(id: string): CharacterStoreError {
  return new CharacterStoreError(409, { code: 'character_exists', message: `A character "${id}" already exists.` });
}

function readOnly(id: string): CharacterStoreError {
  const message = `${id} was not imported, so it is read-only. Copy it, and edit the copy.`;
  return new CharacterStoreError(403, { code: 'character_read_only', message });
}

function changed(name: string): CharacterStoreError {
  const message = `${name} was changed by someone else after you opened it. Nothing was saved. Open it again, or save yours as a copy.`;
  return new CharacterStoreError(412, { code: 'character_changed', message });
}

function inScene(name: string, scene: string): CharacterStoreError {
  const message = `${name} appears in the scene "${scene}". Remove the scene first.`;
  return new CharacterStoreError(409, { code: 'character_in_scene', message });
}
