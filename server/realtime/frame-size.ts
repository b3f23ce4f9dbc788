import { limits } from '../protocol/limits.ts';
import type { Problem } from '../session/contract/events.ts';

/** Size of a JSON text, measured without parsing it. */
export interface FrameSize {
  /** Bytes outside of media strings. */
  readonly textBytes: number;
  /** Bytes of strings so long that they can only be audio or a picture. */
  readonly mediaBytes: number;
  /** Values, at most one over the limit: the count stops there. */
  readonly values: number;
  /** Nesting depth, at most one over the limit. */
  readonly levels: number;
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openers: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const closers: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/**
 * Measures a JSON text in one pass over its bytes, and stops at the first limit that it exceeds: parsing a frame of
 * 21 MiB of tiny values takes seconds, in which no other session is served. A text that is not JSON gets some size.
 */
export function measureFrame(text: Buffer): FrameSize {
  let mediaBytes = 0;
  let values = 1;
  let depth = 0;
  let levels = 0;
  for (let index = 0; index < text.length; index += 1) {
    const byte = text[index] ?? 0;
    if (byte === quote) {
      const end = endOfString(text, index);
      if (end - index > limits.mediaStringBytes) mediaBytes += end - index;
      index = end;
    } else if (byte === comma) values += 1;
    else if (openers.has(byte)) {
      values += 1;
      depth += 1;
      levels = Math.max(levels, depth);
    } else if (closers.has(byte)) depth -= 1;
    if (values > limits.frameValues || levels > limits.nestingLevels) break;
  }
  return { textBytes: text.length - mediaBytes, mediaBytes, values, levels };
}

/** Returns the index of the quote that ends the string that begins at `start`; the end of the text if none does. */
function endOfString(text: Buffer, start: number): number {
  for (let end = text.indexOf(quote, start + 1); end >= 0; end = text.indexOf(quote, end + 1)) {
    let slashes = 0;
    while (text[end - 1 - slashes] === backslash) slashes += 1;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}

/** Returns the problem of a frame that is too large to be parsed. */
export function frameProblem(bytes: number, { textBytes, values, levels }: FrameSize): Problem | undefined {
  if (bytes > limits.frameBytes) {
    const message = `The frame is over ${limits.frameBytes / 2 ** 20} MiB. Send audio in shorter pieces.`;
    return { code: 'message_too_large', message };
  }
  if (levels > limits.nestingLevels) {
    const message = `The event is nested over ${limits.nestingLevels} levels deep. Send a flatter one.`;
    return { code: 'invalid_event', message };
  }
  if (values > limits.frameValues) {
    const message = `The event has over ${limits.frameValues} values. Send fewer fields and list entries.`;
    return { code: 'message_too_large', message };
  }
  return textBytes > limits.textFrameBytes ? tooMuchText : undefined;
}

const tooMuchText: Problem = {
  code: 'message_too_large',
  message: `The event is over ${limits.textFrameBytes / 1024} KiB without its audio and pictures. Send less text.`,
};

/** Fields that may hold a media string, by event type; any other field is text of any length. */
const mediaFields: Readonly<Record<string, ReadonlySet<string>>> = {
  'input_audio_buffer.append': new Set(['audio']),
  'conversation.item.create': new Set(['audio', 'image_url']),
  'response.create': new Set(['audio', 'image_url']),
};

/** Returns the problem of a parsed event that has a long string where no audio and no picture belongs. */
export function misplacedMedia(message: unknown): Problem | undefined {
  const type = typeof message === 'object' && message !== null ? (message as { type?: unknown }).type : undefined;
  const fields = mediaFields[String(type)] ?? new Set();
  const param = longTextIn(message, fields);
  if (param === undefined) return undefined;
  return { code: 'text_too_long', message: `${param} is longer than ${limits.mediaStringBytes} characters.`, param };
}

/**
 * Returns the path of the first text that is too long, such as `item.content.0.text`. Recursion is bounded, because
 * `frameProblem` has refused deep frames.
 */
function longTextIn(value: unknown, mediaFields: ReadonlySet<string>): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, field] of Object.entries(value)) {
    if (typeof field === 'string') {
      if (!mediaFields.has(key) && field.length > limits.mediaStringBytes) return key;
      continue;
    }
    const inner = longTextIn(field, mediaFields);
    if (inner !== undefined) return `${key}.${inner}`;
  }
  return undefined;
}
