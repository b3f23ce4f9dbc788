import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { Card, DialoguePair } from '../../../characters/card.ts';
import { loadCharacter, type Character } from '../../../characters/character.ts';
import { readAssets, readPicture, readSource, writePack, type PackFiles } from '../../../characters/pack-folder.ts';
import { slugOf } from '../../../characters/slug.ts';
import type { Config } from '../../config.ts';
import type { Problem } from '../../session/events.ts';

/** Thrown by a shelf that does not do what was asked; answered as it stands. */
export class ShelfError extends Error {
  readonly status: 403 | 404 | 409 | 412;
  readonly problem: Problem;

  constructor(status: ShelfError['status'], problem: Problem) {
    super(problem.message);
    this.status = status;
    this.problem = problem;
  }
}

/**
 * The characters of a server, to read and change. Only imported ones, in the data folder, may be changed; shipped packs and those of
 * the operator's own folder are read only. What is changed is spoken with from the next conversation on. Changes come one after the
 * other, so that what is compared before one is still true when it is made.
 */
export interface Shelf {
  /** Throws `unknown_character`; scenes are no characters. */
  find(id: string): Character;
  isEditable(id: string): Promise<boolean>;
  /** What a pack holds beside card and lines. */
  extrasOf(id: string): Promise<Pick<PackFiles, 'source' | 'picture' | 'files'>>;
  /** Puts a new one there. `beside`: an id that is taken gives way to a free one. */
  add(pack: PackFiles, beside?: boolean): Promise<Character>;
  /** Throws `character_changed` where `revisions` do not hold the revision of now; undefined: whatever it is. */
  replace(pack: Pick<PackFiles, 'card' | 'lines'>, revisions: string | undefined): Promise<Character>;
  remove(id: string, revisions: string | undefined): Promise<void>;
}

/** The packs that come with Dramatis. */
const builtIn = path.join(import.meta.dirname, '..', '..', '..', 'characters');

/** Opens the shelf over the characters that the server speaks as. */
export function openShelf(
  characters: Map<string, Character>,
  { dataDir, charactersDir }: Pick<Config, 'dataDir' | 'charactersDir'>,
): Shelf {
  const imported = path.resolve(dataDir, 'characters');
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  };
  const find = (id: string): Character => {
    const found = characters.get(id);
    if (found !== undefined && found.stage === undefined) return found;
    throw new ShelfError(404, {
      code: 'unknown_character',
      message: `There is no character "${id.slice(0, 64)}".`,
    });
  };
  const has = (parent: string, id: string): boolean => existsSync(path.join(parent, id, 'card.json'));
  const isEditable = async (id: string): Promise<boolean> =>
    has(imported, id) && !(charactersDir !== undefined && has(charactersDir, id));
  const editable = async (id: string, revisions: string | undefined): Promise<Character> => {
    const found = find(id);
    if (!(await isEditable(id))) throw readOnly(id);
    if (revisions !== undefined && !isAmong(revisionOf(found), revisions)) throw changed(found.name);
    return found;
  };
  const put = async (parent: string, id: string): Promise<Character> => {
    const read = await loadCharacter(path.join(parent, id));
    characters.set(id, read);
    recast(characters, read);
    return read;
  };
  const extrasOf: Shelf['extrasOf'] = async (id) => {
    const folder = path.join(imported, id);
    const [source, picture, files] = await Promise.all([readSource(folder), readPicture(folder), readAssets(folder)]);
    return { files, ...(source === undefined ? {} : { source }), ...(picture === undefined ? {} : { picture }) };
  };
  return {
    find,
    isEditable,
    extrasOf,
    add: (pack, beside = false) =>
      inTurn(async () => {
        const taken = characters.has(pack.card.id);
        if (taken && !beside) throw exists(pack.card.id);
        const id = taken ? freeId(pack.card.id, characters) : pack.card.id;
        await writePack(imported, { ...pack, card: { ...pack.card, id } });
        return put(imported, id);
      }),
    replace: ({ card, lines }, revisions) =>
      inTurn(async () => {
        await editable(card.id, revisions);
        await writePack(imported, { card, lines, ...(await extrasOf(card.id)) }, true);
        return put(imported, card.id);
      }),
    remove: (id, revisions) =>
      inTurn(async () => {
        const { name } = await editable(id, revisions);
        const isShipped = has(builtIn, id);
        const scene = sceneWith(id, characters);
        if (scene !== undefined && !isShipped) throw inScene(name, scene);
        await rm(path.join(imported, id), { recursive: true });
        if (isShipped) await put(builtIn, id);
        else characters.delete(id);
      }),
  };
}

/** Tells one state of a character from another: a strong entity tag (RFC 9110 §8.8.3). */
export function revisionOf({ lines, ...card }: { readonly lines: readonly DialoguePair[] } & Card): string {
  return `"${createHash('sha256')
    .update(JSON.stringify([card, lines]))
    .digest('base64url')
    .slice(0, 22)}"`;
}

/** An id like this one that nobody has. */
export function freeId(name: string, characters: { has(id: string): boolean }): string {
  const slug = slugOf(name);
  for (let number = 1; ; number += 1) {
    const id = number === 1 ? slug : `${slug.slice(0, 58).replace(/-$/, '')}-${number}`;
    if (!characters.has(id)) return id;
  }
}

/** Scenes play with the character as it is now. */
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

/** If-Match: a list of entity tags, or `*` (RFC 9110 §13.1.1). */
function isAmong(revision: string, revisions: string): boolean {
  return revisions.split(',').some((each) => each.trim() === '*' || each.trim() === revision);
}

function exists(id: string): ShelfError {
  return new ShelfError(409, { code: 'character_exists', message: `There is a character "${id}" already.` });
}

function readOnly(id: string): ShelfError {
  const message = `${id} was not imported, so it stays as it is. Make a copy to change it.`;
  return new ShelfError(403, { code: 'character_read_only', message });
}

function changed(name: string): ShelfError {
  const message = `${name} was changed by somebody else since you opened it. Nothing was saved: open it again, or save yours as a copy.`;
  return new ShelfError(412, { code: 'character_changed', message });
}

function inScene(name: string, scene: string): ShelfError {
  const message = `${name} plays in the scene "${scene}". Remove the scene first.`;
  return new ShelfError(409, { code: 'character_in_scene', message });
}
