import { readStored } from '../browser/browser-storage.js';

/** Maximum size of a card upload. */
const MOST_BYTES = 25 * 2 ** 20;

/** @typedef {{ readonly param: string, readonly message: string }} Issue */

/** The server refused a request; the message is the server's. */
export class Refusal extends Error {
  /** @override */
  name = 'Refusal';

  /**
   * @param {number} status 0: the server did not answer
   * @param {string} code
   * @param {string} message
   * @param {readonly Issue[]} issues errors of a card, by field
   */
  constructor(status, code, message, issues = []) {
    super(message);
    this.status = status;
    this.code = code;
    this.issues = issues;
  }
}

/**
 * Sends a request. Throws a {@link Refusal} if the server refuses it or does not answer.
 *
 * @param {string} path
 * @param {RequestInit} [options]
 */
export async function ask(path, options = {}) {
  const key = readStored('tab', 'key');
  const headers = new Headers(options.headers);
  if (key !== '') headers.set('authorization', `Bearer ${key}`);
  const reply = await fetch(path, { ...options, headers }).catch(() => undefined);
  if (reply === undefined) throw new Refusal(0, '', 'The server cannot be reached. Nothing was changed; try again.');
  if (reply.ok) return reply;
  const { error } = await reply.json().catch(() => ({ error: {} }));
  const { code = '', message = `The server responded with ${reply.status}.`, x_dramatis: more } = error;
  throw new Refusal(reply.status, code, message, more?.issues);
}

/**
 * @param {string} method
 * @param {string} path
 * @param {unknown} body
 * @param {Record<string, string>} [headers]
 */
export async function sendJson(method, path, body, headers = {}) {
  const json = new Blob([JSON.stringify(body)], { type: 'application/json' });
  checkSize(json, 'The card');
  return ask(path, { method, headers: { 'content-type': 'application/json', ...headers }, body: json });
}

/**
 * Throws a {@link Refusal} for an upload that is too large: the server would close the connection
 * during the upload, and browsers do not report the reason.
 *
 * @param {Blob} sent
 * @param {string} name
 */
export function checkSize({ size }, name) {
  if (size <= MOST_BYTES) return;
  const message = `${name} has ${Math.ceil(size / 2 ** 20)} MB; the limit is ${MOST_BYTES / 2 ** 20} MB.`;
  throw new Refusal(413, 'message_too_large', message);
}

/** @param {string} id */
export function placeOf(id) {
  return `/characters/${encodeURIComponent(id)}`;
}
