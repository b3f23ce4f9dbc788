import { createReadStream } from 'node:fs';

/** A line of a file, and its place in bytes with the line break. */
export interface PlacedLine {
  readonly text: string;
  readonly at: number;
  readonly bytes: number;
}

/**
 * Reads a file, or a range of its bytes, line by line. Only `\n` ends a line: JSON may hold U+2028, at which Node's
 * `readline` would cut.
 */
export async function* linesIn(
  file: string,
  range?: { readonly at: number; readonly bytes: number },
): AsyncGenerator<PlacedLine> {
  const start = range?.at ?? 0;
  const options = range === undefined ? {} : { start, end: start + range.bytes - 1 };
  const pieces = createReadStream(file, { highWaterMark: 256 * 1024, ...options }) as AsyncIterable<Buffer>;
  yield* linesOf(pieces, start);
}

/** Lines of a stream of bytes that begins at the place `start`. */
export async function* linesOf(pieces: AsyncIterable<Buffer>, start = 0): AsyncGenerator<PlacedLine> {
  let rest: Buffer[] = [];
  let at = start;
  for await (const piece of pieces) {
    let from = 0;
    for (let end = piece.indexOf(10, from); end >= 0; end = piece.indexOf(10, from)) {
      const line = rest.length === 0 ? piece.subarray(from, end) : Buffer.concat([...rest, piece.subarray(from, end)]);
      rest = [];
      yield { text: line.toString('utf8'), at, bytes: line.length + 1 };
      at += line.length + 1;
      from = end + 1;
    }
    if (from < piece.length) rest.push(piece.subarray(from));
  }
  if (rest.length > 0) {
    const line = Buffer.concat(rest);
    yield { text: line.toString('utf8'), at, bytes: line.length };
  }
}
