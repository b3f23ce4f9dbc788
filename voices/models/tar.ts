import { ModelError } from './model-error.ts';

/** One file of an archive; its bytes must be read before the next file is requested. */
export interface TarFile {
  /** Path as in the archive; not to be trusted. */
  readonly path: string;
  readonly bytes: number;
  readonly body: AsyncIterable<Buffer>;
}

const blockBytes = 512;
const longNameMost = 65_536;

/**
 * Regular files of a tar archive (ustar, GNU long names, pax paths), in order. Skips links, devices and folders. Throws
 * `model_corrupt` if it is not an archive, or ends early.
 */
export async function* readTar(source: AsyncIterable<Buffer>): AsyncGenerator<TarFile> {
  const reader = new Reader(source);
  let longName: string | undefined;
  for (;;) {
    const header = await reader.take(blockBytes);
    // Two empty blocks should end the archive; one is accepted.
    if (header.every((byte) => byte === 0)) return reader.drain();
    const { type, bytes, path } = parseHeader(header);
    if (type === 'L' || type === 'x') {
      if (bytes > longNameMost) throw corrupt('a file name in it is too long');
      const text = (await reader.take(bytes)).toString('utf8');
      longName = type === 'L' ? text.replace(/\0.*$/s, '') : (/^\d+ path=(.*)$/m.exec(text)?.[1] ?? longName);
      await reader.skip(padding(bytes));
      continue;
    }
    const isFile = type === '0' || type === '\0';
    let left = bytes;
    if (isFile) {
      const body = (async function* () {
        while (left > 0) {
          const block = await reader.some(left);
          left -= block.length;
          yield block;
        }
      })();
      yield { path: longName ?? path, bytes, body };
    }
    await reader.skip(left + padding(bytes));
    longName = undefined;
  }
}

function padding(bytes: number): number {
  return (blockBytes - (bytes % blockBytes)) % blockBytes;
}

function parseHeader(header: Buffer): { readonly type: string; readonly bytes: number; readonly path: string } {
  const text = (from: number, to: number): string => header.subarray(from, to).toString('utf8').replace(/\0.*$/s, '');
  const stated = Number.parseInt(text(148, 156).trim(), 8);
  const sum = header.reduce((total, byte, place) => total + (place >= 148 && place < 156 ? 32 : byte), 0);
  const bytes = Number.parseInt(text(124, 136).trim() || '0', 8);
  if (stated !== sum || !Number.isSafeInteger(bytes) || bytes < 0) throw corrupt('it is not a tar archive');
  const prefix = text(257, 262) === 'ustar' ? text(345, 500) : '';
  const name = text(0, 100);
  return { type: String.fromCharCode(header[156] ?? 0), bytes, path: prefix === '' ? name : `${prefix}/${name}` };
}

function corrupt(why: string): ModelError {
  return new ModelError('model_corrupt', `The archive cannot be unpacked: ${why}. Download it again.`);
}

/** Reads byte counts from a stream, whatever the size of its blocks. */
class Reader {
  readonly #source: AsyncIterator<Buffer>;
  #held: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Returns at least one byte, at most `most`. */
  async some(most: number): Promise<Buffer> {
    while (this.#held.length === 0) {
      const next = await this.#source.next();
      if (next.done === true) throw corrupt('it is truncated');
      this.#held = next.value;
    }
    const taken = this.#held.subarray(0, most);
    this.#held = this.#held.subarray(taken.length);
    return taken;
  }

  async take(bytes: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (let left = bytes; left > 0;) {
      const part = await this.some(left);
      parts.push(part);
      left -= part.length;
    }
    return Buffer.concat(parts);
  }

  /** Reads the rest, so that its writer can end. */
  async drain(): Promise<void> {
    while ((await this.#source.next()).done !== true);
  }

  async skip(bytes: number): Promise<void> {
    for (let left = bytes; left > 0;) left -= (await this.some(left)).length;
  }
}
