import { crc32, deflateSync } from 'node:zlib';
import { CharacterError } from '../character-error.ts';

/** One chunk of a PNG: four-letter type and body (PNG specification, §5.3). */
interface Chunk {
  readonly type: string;
  readonly body: Uint8Array;
}

/** Largest picture that is read, in bytes; cards with pictures are a few megabytes. */
export const largestPngBytes = 32 * 1024 * 1024;

const signature = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);

/** True for bytes with the PNG signature. */
export function isPng(bytes: Uint8Array): boolean {
  return signature.every((byte, index) => bytes[index] === byte);
}

/**
 * Returns the texts of a PNG by keyword (tEXt chunks, Latin-1). Of a repeated keyword the last counts, as later writers
 * append. Throws `CharacterError` for an incomplete PNG.
 */
export function readPngTexts(png: Uint8Array, where: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { type, body } of chunksOf(png, where)) {
    if (type !== 'tEXt') continue;
    const end = body.indexOf(0);
    if (end < 1) continue;
    const latin1 = Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1');
    found.set(latin1.slice(0, end), latin1.slice(end + 1));
  }
  return found;
}

/**
 * Returns the picture with these texts: replaces texts of the same keywords (undefined removes them) and keeps all
 * other chunks.
 */
export function writePngTexts(
  png: Uint8Array,
  texts: ReadonlyMap<string, string | undefined>,
  where: string,
): Uint8Array {
  const kept = chunksOf(png, where).filter(({ type, body }) => {
    if (type !== 'tEXt') return true;
    const end = body.indexOf(0);
    return !texts.has(Buffer.from(body.subarray(0, Math.max(0, end))).toString('latin1'));
  });
  const added = [...texts].flatMap(([keyword, text]) =>
    text === undefined ? [] : { type: 'tEXt', body: Buffer.from(`${keyword}\0${text}`, 'latin1') },
  );
  return join([...kept.slice(0, -1), ...added, ...kept.slice(-1)]);
}

/** A plain picture, 400 × 600, for a character that has none; its colour is derived from the name. */
export function blankPng(name: string): Uint8Array {
  const [width, height] = [400, 600];
  const hash = crc32(name);
  const base = [0, 8, 16].map((shift) => 60 + ((hash >> shift) & 0x7f));
  const rows = Buffer.alloc(height * (1 + width * 3));
  for (let y = 0; y < height; y += 1) {
    const light = 1.2 - (0.6 * y) / height;
    const pixel = base.map((value) => Math.min(255, Math.round(value * light)));
    const start = y * (1 + width * 3) + 1;
    for (let x = 0; x < width; x += 1) for (let c = 0; c < 3; c += 1) rows[start + x * 3 + c] = pixel[c] ?? 0;
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // 8 bits, colour type 2 (RGB), the only compression and filter methods, no interlace.
  header.set([8, 2, 0, 0, 0], 8);
  return join([
    { type: 'IHDR', body: header },
    { type: 'IDAT', body: deflateSync(rows) },
    { type: 'IEND', body: new Uint8Array() },
  ]);
}

function chunksOf(png: Uint8Array, where: string): Chunk[] {
  if (png.length > largestPngBytes)
    throw new CharacterError(`${where}: the picture is larger than ${largestPngBytes / 1024 / 1024} MB; scale it down`);
  if (!isPng(png)) throw new CharacterError(`${where}: not a PNG`);
  const view = new DataView(png.buffer, png.byteOffset, png.byteLength);
  const chunks: Chunk[] = [];
  let at = signature.length;
  while (at + 12 <= png.length) {
    const length = view.getUint32(at);
    const end = at + 12 + length;
    if (end > png.length) break;
    const type = Buffer.from(png.subarray(at + 4, at + 8)).toString('latin1');
    // Only texts are verified; pictures that other programs show despite a wrong checksum are accepted.
    if (type === 'tEXt' && crc32(png.subarray(at + 4, end - 4)) !== view.getUint32(end - 4))
      throw new CharacterError(`${where}: the card in this picture is damaged (wrong checksum); download it again`);
    chunks.push({ type, body: png.subarray(at + 8, end - 4) });
    if (type === 'IEND') return chunks;
    at = end;
  }
  throw new CharacterError(`${where}: the picture is truncated; download it again`);
}

function join(chunks: readonly Chunk[]): Uint8Array {
  const parts: Uint8Array[] = [signature];
  for (const { type, body } of chunks) {
    const whole = Buffer.alloc(12 + body.length);
    whole.writeUInt32BE(body.length, 0);
    whole.write(type, 4, 'latin1');
    whole.set(body, 8);
    whole.writeUInt32BE(crc32(whole.subarray(4, 8 + body.length)), 8 + body.length);
    parts.push(whole);
  }
  return Buffer.concat(parts);
}
