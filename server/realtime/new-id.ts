import { randomBytes } from 'node:crypto';

const idBytes = 12;
/** Asking for randomness costs more than making an id, so it is asked for many at once. */
let random = Buffer.alloc(0);
let randomUsed = 0;

/** A new id, with the prefix that OpenAI gives its kind. */
export function newId(kind: 'sess' | 'event' | 'item' | 'resp'): string {
  if (randomUsed === random.length) {
    random = randomBytes(64 * idBytes);
    randomUsed = 0;
  }
  randomUsed += idBytes;
  return `${kind}_${random.toString('base64url', randomUsed - idBytes, randomUsed)}`;
}
