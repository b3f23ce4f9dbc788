import { randomBytes } from 'node:crypto';

const idBytes = 12;
/** Random bytes for many ids at once: a call for them costs more than making an id. */
let random = Buffer.alloc(0);
let randomUsed = 0;

/** Returns a new id, with OpenAI's prefix for its kind. */
export function newId(kind: 'sess' | 'event' | 'item' | 'resp'): string {
  if (randomUsed === random.length) {
    random = randomBytes(64 * idBytes);
    randomUsed = 0;
  }
  randomUsed += idBytes;
  return `${kind}_${random.toString('base64url', randomUsed - idBytes, randomUsed)}`;
}
