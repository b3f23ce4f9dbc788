import { readFile, stat } from 'node:fs/promises';
import { CharacterError } from '../character-error.ts';
import { maxCharxFiles, maxNameBytes, maxPathBytes, maxUnpackedBytes } from '../limits.ts';
import { cardJson, readCardJson, type TavernCard } from './card-file.ts';
import { blankPng, isPng, readPngTexts, writePngTexts } from './png.ts';
import { strFromU8, strToU8, unzipSync, zipSync, type UnzipFileInfo } from 'fflate';

/** A card file: the card, its picture, and the files its assets refer to. */
export interface CardFile {
  readonly card: TavernCard;
  readonly picture?: Uint8Array;
  /** By path inside the archive. */
  readonly files: ReadonlyMap<string, Uint8Array>;
}

/** File formats of exported cards. */
export const cardFormats = ['png', 'json', 'charx'] as const;

export type CardFormat = (typeof cardFormats)[number];

const largestFileBytes = 256 * 1024 * 1024;

/**
 * Reads a card from a JSON, PNG or CHARX file, detected by its contents. Throws `CharacterError` that names the file.
 */
export async function openCard(file: string): Promise<CardFile> {
  let bytes: Uint8Array;
  try {
    const { size } = await stat(file);
    if (size > largestFileBytes) throw new CharacterError(`${file}: larger than ${largestFileBytes / 1024 / 1024} MB`);
    bytes = await readFile(file);
  } catch (cause) {
    if (cause instanceof CharacterError) throw cause;
    throw new CharacterError(`${file}: ${whyUnread(cause)}`, { cause });
  }
  return readCardBytes(bytes, file);
}

function whyUnread(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  if (code === 'ENOENT') return 'the file does not exist; check the path';
  if (code === 'EISDIR') return 'this is a folder; name the cards in it, or import a data set with --from';
  return 'cannot be read; check its permissions';
}

/** The same for bytes in memory. */
export function readCardBytes(bytes: Uint8Array, where: string): CardFile {
  if (isPng(bytes)) {
    const texts = readPngTexts(bytes, where);
    const encoded = texts.get('ccv3') ?? texts.get('chara');
    if (encoded === undefined)
      throw new CharacterError(
        `${where}: this picture contains no card; editing or converting a picture removes the card`,
      );
    return {
      card: readCardJson(Buffer.from(encoded, 'base64').toString('utf8'), where),
      picture: bytes,
      files: new Map(),
    };
  }
  if (isZip(bytes)) {
    const { json, files } = readCharx(bytes, where);
    return { card: readCardJson(json, `${where}: card.json`), files };
  }
  return { card: readCardJson(new TextDecoder().decode(bytes), where), files: new Map() };
}

/**
 * Serializes a card. A PNG carries V2 under `chara`, which every program reads, and with `v3` that version under `ccv3`
 * too.
 */
export function writeCardBytes({ card, picture, files }: CardFile, format: CardFormat, spec: 'v2' | 'v3'): Uint8Array {
  const json = (version: 'v2' | 'v3'): string => JSON.stringify(cardJson(card, version));
  if (format === 'json') return Buffer.from(`${JSON.stringify(cardJson(card, spec), undefined, 2)}\n`);
  if (format === 'charx') return writeCharx({ json: json(spec), files });
  const encode = (version: 'v2' | 'v3'): string => Buffer.from(json(version)).toString('base64');
  const texts = new Map([['chara', encode('v2')], ...(spec === 'v3' ? [['ccv3', encode('v3')] as const] : [])]);
  const base = picture ?? blankPng(card.data.name);
  return writePngTexts(spec === 'v3' ? base : withoutV3(base, card.data.name), texts, card.data.name);
}

/** Returns the picture without the card. Throws `CharacterError` for an incomplete PNG. */
export function withoutCard(png: Uint8Array, where: string): Uint8Array {
  const none = new Map(['chara', 'ccv3'].map((keyword) => [keyword, undefined]));
  return writePngTexts(png, none, where);
}

/** Removes the picture's own V3 card, which would be read instead of the requested V2 card. */
function withoutV3(png: Uint8Array, where: string): Uint8Array {
  return readPngTexts(png, where).has('ccv3') ? writePngTexts(png, new Map([['ccv3', undefined]]), where) : png;
}

/** A CHARX file: the card's JSON and the files its assets refer to (`embeded://path`). V3 §CHARX. */
interface Charx {
  readonly json: string;
  /** By path inside the archive. */
  readonly files: ReadonlyMap<string, Uint8Array>;
}

const largestCardBytes = 8 * 1024 * 1024;

/** True for bytes with the signature of a zip archive. */
function isZip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x50 && bytes[1] === 0x4b && bytes[2] === 0x03 && bytes[3] === 0x04;
}

/**
 * Reads an archive. Throws `CharacterError` if it has no `card.json`, is truncated, or unpacks to more than the limits.
 */
function readCharx(archive: Uint8Array, where: string): Charx {
  let count = 0;
  let totalBytes = 0;
  const measured = ({ name, size, originalSize }: UnzipFileInfo): boolean => {
    count += 1;
    // A stored entry takes as many bytes as the archive contains, regardless of the declared size.
    const bytes = Math.max(size, originalSize);
    totalBytes += bytes;
    const limit = name === 'card.json' ? largestCardBytes : maxUnpackedBytes;
    if (bytes > limit || totalBytes > maxUnpackedBytes || count > maxCharxFiles)
      throw new CharacterError(
        `${where}: the unpacked card exceeds the limit (${limit / 2 ** 20} MiB for ${name.slice(0, 80)}, ${maxUnpackedBytes / 2 ** 20} MiB in all, ${maxCharxFiles} files)`,
      );
    // Skips folders, and paths that would leave the archive.
    if (name.endsWith('/') || name.startsWith('/') || name.split(/[/\\]/).includes('..')) return false;
    requireFileName(name, where);
    return true;
  };
  let unpacked: Record<string, Uint8Array>;
  try {
    unpacked = unzipSync(archive, { filter: measured });
  } catch (cause) {
    if (cause instanceof CharacterError) throw cause;
    throw new CharacterError(`${where}: the archive is damaged; download it again`, { cause });
  }
  const { 'card.json': card, ...files } = unpacked;
  requireNoFileAsFolder(Object.keys(files), where);
  if (card === undefined) throw new CharacterError(`${where}: no card.json in the archive; this is not a CHARX file`);
  return { json: strFromU8(card), files: new Map(Object.entries(files)) };
}

/** Refuses a path that cannot be a file's on every system: with a NUL, an empty part or a dot, or too long. */
function requireFileName(name: string, where: string): void {
  const parts = name.split('/');
  const isTooLong =
    Buffer.byteLength(name) > maxPathBytes || parts.some((part) => Buffer.byteLength(part) > maxNameBytes);
  if (!isTooLong && !name.includes('\0') && parts.every((part) => part !== '' && part !== '.')) return;
  const shown = JSON.stringify(name.slice(0, 80));
  throw new CharacterError(
    `${where}: the archive has a file ${shown}; rename it: ${maxNameBytes} bytes, no NUL, no "./"`,
  );
}

function requireNoFileAsFolder(names: readonly string[], where: string): void {
  const folders = new Set(names.flatMap((name) => foldersOf(name)));
  const both = names.find((name) => folders.has(name));
  if (both !== undefined)
    throw new CharacterError(`${where}: ${JSON.stringify(both.slice(0, 80))} is a file and a folder; rename one`);
}

function foldersOf(name: string): string[] {
  const parts = name.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

/** Packs a card and its files. Pictures and audio are compressed already, so they are only stored. */
function writeCharx({ json, files }: Charx): Uint8Array {
  const entries = [...files].map(([name, body]) => [name, [body, { level: 0 }]] as const);
  return zipSync({ 'card.json': [strToU8(json), { level: 6 }], ...Object.fromEntries(entries) });
}
