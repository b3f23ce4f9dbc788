import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** Begins all that is sealed: a character that nobody types, and the version of the format. */
const mark = '\u0002dk1:';
const markBytes = Buffer.from(mark);
/** Bytes of the nonce and of the tag of AES-256-GCM (NIST SP 800-38D). */
const nonceBytes = 12;
const tagBytes = 16;
/** Names of the columns with content. Others may have text of a client's choice that looks sealed. */
export const contentColumns: ReadonlySet<string> = new Set(['asked', 'answered', 'text', 'value', 'point']);
/** Characters of a key's id. */
const idLength = 22;

/** A data key: what one character remembers of one user is sealed with it. */
export interface DataKey {
  /** 128 random bits in base64url. */
  readonly id: string;
  /** 256 bits. */
  readonly secret: Buffer;
}

export function newDataKey(): DataKey {
  return { id: randomBytes(16).toString('base64url'), secret: randomBytes(32) };
}

/** Seals content with a key; text becomes text, and bytes become bytes. */
export function seal(content: string | Uint8Array, { id, secret }: DataKey): string | Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', secret, nonce).setAAD(Buffer.from(id));
  const body = Buffer.concat([nonce, cipher.update(content), cipher.final(), cipher.getAuthTag()]);
  if (typeof content === 'string') return `${mark}${id}${body.toString('base64')}`;
  return Buffer.concat([markBytes, Buffer.from(id), body]);
}

/** Returns the id of the key with which a value of a row is sealed; undefined if it is not. */
export function keyIdOf(value: unknown): string | undefined {
  const from = mark.length;
  if (typeof value === 'string') return value.startsWith(mark) ? value.slice(from, from + idLength) : undefined;
  if (!(value instanceof Uint8Array) || value.length < from + idLength) return undefined;
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.length);
  if (!bytes.subarray(0, from).equals(markBytes)) return undefined;
  return bytes.toString('latin1', from, from + idLength);
}

/** Opens a value for which `keyIdOf` names this key. Throws if it was changed. */
export function unseal(value: string | Uint8Array, { id, secret }: DataKey): string | Buffer {
  const from = mark.length + idLength;
  const body = typeof value === 'string' ? Buffer.from(value.slice(from), 'base64') : Buffer.from(value.subarray(from));
  const nonce = body.subarray(0, nonceBytes);
  const decipher = createDecipheriv('aes-256-gcm', secret, nonce, { authTagLength: tagBytes }).setAAD(Buffer.from(id));
  decipher.setAuthTag(body.subarray(body.length - tagBytes));
  const opened = Buffer.concat([decipher.update(body.subarray(nonceBytes, body.length - tagBytes)), decipher.final()]);
  return typeof value === 'string' ? opened.toString() : opened;
}

/** SQL condition for a row in which one of these columns is not sealed. Columns of bytes are those named `point`. */
export function unsealedIn(columns: readonly string[]): string {
  const markOf = (name: string): string =>
    name === 'point'
      ? `substring(point FROM 1 FOR ${markBytes.length}) <> '\\x${markBytes.toString('hex')}'::bytea`
      : `left(${name}, ${mark.length}) <> chr(2) || '${mark.slice(1)}'`;
  return `(${columns.map(markOf).join(' OR ')})`;
}
