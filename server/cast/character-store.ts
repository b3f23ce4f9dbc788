import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Card, DialoguePair } from '../../characters/card.ts';
import { loadCharacter, type Character } from '../../characters/character.ts';
import {
  hasPicture,
  readAssets,
  readOwner,
  readPicture,
  readSource,
  writePack,
  writePicture,
  type PackFiles,
} from '../../characters/pack-folder.ts';
import { slugOf } from '../../characters/slug.ts';
import { accountsOf } from '../config/api-keys.ts';
import type { Config } from '../config/config.ts';
import { makeDataDir } from '../config/data-dir.ts';
import { CharacterStoreError } from './character-store-error.ts';

/** The account that changes a character; the operator, on the command line, may change all. */
export type Editor = { readonly owner: string | undefined } | 'operator';

/** The packs shipped with Dramatis. */
const builtIn = path.join(import.meta.dirname, '../../characters');

/**
 * The characters of a server, to read and change. Only imported ones, in the data folder, can be changed; shipped packs
 * and those of the operator's own folder are read-only. On a server with several accounts, an imported one belongs to the
 * account that made it, and those without an account to the operator. A change takes effect with the next conversation. Changes run
 * one after the other, so that a revision check still holds when the change is made.
 */
export class CharacterStore {
  readonly #characters: Map<string, Character>;
  readonly #imported: string;
  /** The operator's own packs; they take precedence over imported ones. */
  readonly #own: string | undefined;
  readonly #isShared: boolean;
  readonly #most: { readonly count: number; readonly bytes: number };
  #last: Promise<unknown> = Promise.resolve();

  /** @param characters the characters the server uses; changes are written into this map too */
  constructor(
    characters: Map<string, Character>,
    config: Pick<Config, 'dataDir' | 'charactersDir' | 'apiKeys' | 'maxCharacters' | 'maxCharactersMb'>,
  ) {
    this.#characters = characters;
    this.#imported = path.resolve(config.dataDir, 'characters');
    this.#own = config.charactersDir;
    this.#isShared = accountsOf(config.apiKeys).size > 1;
    this.#most = { count: config.maxCharacters, bytes: config.maxCharactersMb * 2 ** 20 };
  }

  /** Returns a character. Throws `unknown_character`, also for a scene. */
  find(id: string): Character {
    const found = this.#characters.get(id);
    if (found !== undefined && found.stage === undefined) return found;
    const message = `There is no character "${id.slice(0, 64)}".`;
    throw new CharacterStoreError(404, { code: 'unknown_character', message });
  }

  isEditable(id: string, editor: Editor): boolean {
    return this.#isImported(id) && this.#belongsTo(id, editor);
  }

  #isImported(id: string): boolean {
    return isIn(this.#imported, id) && !(this.#own !== undefined && isIn(this.#own, id));
  }

  hasPicture(id: string): boolean {
    return hasPicture(this.folderOf(id));
  }

  async pictureOf(id: string): Promise<Uint8Array | undefined> {
    return readPicture(this.folderOf(id));
  }

  /** Folder of the files of an imported pack. */
  folderOf(id: string): string {
    return path.join(this.#imported, id);
  }

  /** Error messages of files, without the folders that they lie in. */
  withoutPaths(message: string): string {
    return [this.#imported, this.#own, builtIn].reduce<string>(
      (text, folder) => (folder === undefined ? text : text.replaceAll(`${path.resolve(folder)}${path.sep}`, '')),
      message,
    );
  }

  #belongsTo(id: string, editor: Editor): boolean {
    if (editor === 'operator' || !this.#isShared) return true;
    return readOwner(this.folderOf(id)) === hashOf(editor.owner);
  }

  /** The files of a pack besides its card and lines. */
  async #extrasOf(id: string): Promise<Pick<PackFiles, 'source' | 'picture' | 'files'>> {
    const folder = this.folderOf(id);
    const [source, picture, files] = await Promise.all([readSource(folder), readPicture(folder), readAssets(folder)]);
    return { files, ...(source === undefined ? {} : { source }), ...(picture === undefined ? {} : { picture }) };
  }

  /**
   * Adds a new pack of an account; with `from`, the source, picture and files of that one belong to it. If the id is
   * taken, `beside` picks a free one; otherwise `character_exists` is thrown.
   */
  async add(given: PackFiles, owner: string | undefined, beside = false, from?: string): Promise<Character> {
    return this.#inTurn(async () => {
      const pack = from === undefined ? given : { ...(await this.#extrasOf(from)), ...given };
      // A pack that cannot be read still occupies its folder.
      const isTaken = (id: string): boolean => this.#characters.has(id) || isIn(this.#imported, id);
      const taken = isTaken(pack.card.id);
      if (taken && !beside) throw exists(pack.card.id);
      await this.#requireRoom(bytesOf(pack), 1);
      makeDataDir(this.#imported);
      const id = taken ? freeId(pack.card.id, isTaken) : pack.card.id;
      await writePack(this.#imported, { ...pack, card: { ...pack.card, id }, owner: hashOf(owner) });
      return this.#put(this.#imported, id);
    });
  }

  /** Saves an edited character. Throws `character_changed` if `revisions` does not contain the current revision. */
  async replace(
    { card, lines }: Pick<PackFiles, 'card' | 'lines'>,
    editor: Editor,
    revisions: string | undefined,
  ): Promise<Character> {
    return this.#inTurn(async () => {
      this.#editable(card.id, editor, revisions);
      await this.#requireRoom(bytesOf({ card, lines }));
      const owner = readOwner(this.folderOf(card.id));
      await writePack(this.#imported, { card, lines, owner, ...(await this.#extrasOf(card.id)) }, true);
      return this.#put(this.#imported, card.id);
    });
  }

  async setPicture(id: string, editor: Editor, picture: Uint8Array): Promise<void> {
    await this.#inTurn(async () => {
      this.#editable(id, editor, undefined);
      await this.#requireRoom(picture.length);
      await writePicture(this.folderOf(id), picture);
    });
  }

  /** Deletes an imported character. Throws like `replace`. A shipped character that it had replaced comes back. */
  async remove(id: string, editor: Editor, revisions: string | undefined): Promise<void> {
    await this.#inTurn(async () => {
      const { name } = this.#editable(id, editor, revisions);
      const isShipped = isIn(builtIn, id);
      const scene = sceneWith(id, this.#characters);
      if (scene !== undefined && !isShipped) throw inScene(name, scene);
      await rm(path.join(this.#imported, id), { recursive: true });
      if (isShipped) await this.#put(builtIn, id);
      else this.#characters.delete(id);
    });
  }

  #editable(id: string, editor: Editor, revisions: string | undefined): Character {
    const found = this.find(id);
    if (!this.#isImported(id)) throw readOnly(id);
    if (!this.#belongsTo(id, editor)) throw notYours(found.name);
    if (revisions !== undefined && !isAmong(revisionOf(found), revisions)) throw changed(found.name);
    return found;
  }

  async #put(parent: string, id: string): Promise<Character> {
    const read = await loadCharacter(path.join(parent, id));
    this.#characters.set(id, read);
    recast(this.#characters, read);
    return read;
  }

  async #requireRoom(bytes: number, count = 0): Promise<void> {
    const used = await usageOf(this.#imported);
    if (used.count + count > this.#most.count) throw full(`${this.#most.count} characters`);
    if (used.bytes + bytes > this.#most.bytes) throw full(`${this.#most.bytes / 2 ** 20} MiB`);
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }
}

/** An account as a pack keeps it. A pack of a server without keys has none. */
function hashOf(owner: string | undefined): string | undefined {
  return owner === undefined ? undefined : createHash('sha256').update(owner).digest('base64url');
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

function notYours(name: string): CharacterStoreError {
  const message = `${name} belongs to another key, or to the operator. Copy it, and edit the copy.`;
  return new CharacterStoreError(403, { code: 'character_not_yours', message });
}

function changed(name: string): CharacterStoreError {
  const message = `${name} was changed by someone else after you opened it. Nothing was saved. Open it again, or save yours as a copy.`;
  return new CharacterStoreError(412, { code: 'character_changed', message });
}

function inScene(name: string, scene: string): CharacterStoreError {
  const message = `${name} appears in the scene "${scene}". Remove the scene first.`;
  return new CharacterStoreError(409, { code: 'character_in_scene', message });
}

function full(limit: string): CharacterStoreError {
  const message = `The server keeps at most ${limit} of imported characters. Delete some, or ask its operator for more.`;
  return new CharacterStoreError(409, { code: 'character_quota_exceeded', message });
}

/** Packs in a folder, and the bytes of all their files. A file that vanishes meanwhile counts nothing. */
async function usageOf(folder: string): Promise<{ readonly count: number; readonly bytes: number }> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  let bytes = 0;
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const found = await stat(path.join(entry.parentPath, entry.name)).catch(() => undefined);
    bytes += found?.size ?? 0;
  }
  const count = entries.filter(
    ({ name, parentPath }) => name === 'card.json' && path.dirname(parentPath) === folder,
  ).length;
  return { count, bytes };
}

/** Bytes that a pack will take on disk. */
function bytesOf({ card, lines, source = '', picture, files = new Map() }: PackFiles): number {
  const assets = [...files.values()].reduce((sum, file) => sum + file.length, 0);
  return Buffer.byteLength(JSON.stringify([card, lines]) + source) + (picture?.length ?? 0) + assets;
}
