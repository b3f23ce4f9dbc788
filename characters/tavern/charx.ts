import { strFromU8, strToU8, unzipSync, zipSync, type UnzipFileInfo } from 'fflate';
import { CharacterError } from '../character-error.ts';

/** A CHARX file: the card's JSON and the files its assets refer to (`embeded://path`). V3 §CHARX. */
export interface Charx {
  readonly json: string;
  /** By path inside the archive. */
  readonly files: ReadonlyMap<string, Uint8Array>;
}

const largestCardBytes = 8 * 1024 * 1024;
const largestFileBytes = 64 * 1024 * 1024;
const largestTotalBytes = 256 * 1024 * 1024;
const mostFiles = 2_000;

/** True for bytes with the signature of a zip archive. */
export function isZip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x50 && bytes[1] === 0x4b && bytes[2] === 0x03 && bytes[3] === 0x04;
}

/**
 * Reads an archive. Throws `CharacterError` if it has no `card.json`, is truncated, or unpacks to more than the limits.
 */
export function readCharx(archive: Uint8Array, where: string): Charx {
  let count = 0;
  let totalBytes = 0;
  const measured = ({ name, size, originalSize }: UnzipFileInfo): boolean => {
    count += 1;
    // A stored entry takes as many bytes as the archive holds, whatever it declares.
    const bytes = Math.max(size, originalSize);
    totalBytes += bytes;
    const limit = name === 'card.json' ? largestCardBytes : largestFileBytes;
    if (bytes > limit || totalBytes > largestTotalBytes || count > mostFiles)
      throw new CharacterError(
        `${where}: the unpacked card exceeds the limit (${limit / 1024 / 1024} MB for ${name.slice(0, 80)}, ${mostFiles} files)`,
      );
    // Skips folders, and paths that would leave the archive.
    return !name.endsWith('/') && !name.startsWith('/') && !name.split(/[/\\]/).includes('..');
  };
  let unpacked: Record<string, Uint8Array>;
  try {
    unpacked = unzipSync(archive, { filter: measured });
  } catch (cause) {
    if (cause instanceof CharacterError) throw cause;
    throw new CharacterError(`${where}: the archive is damaged; download it again`, { cause });
  }
  const { 'card.json': card, ...files } = unpacked;
  if (card === undefined) throw new CharacterError(`${where}: no card.json in the archive; this is not a CHARX file`);
  return { json: strFromU8(card), files: new Map(Object.entries(files)) };
}

/** Packs a card and its files. Pictures and audio are compressed already, so they are only stored. */
export function writeCharx({ json, files }: Charx): Uint8Array {
  const entries = [...files].map(([name, body]) => [name, [body, { level: 0 }]] as const);
  return zipSync({ 'card.json': [strToU8(json), { level: 6 }], ...Object.fromEntries(entries) });
}
