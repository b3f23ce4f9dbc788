import { recall } from '../remember.js';

/** What a card may weigh on its way to the server. */
export const MOST_BYTES = 25 * 2 ** 20;

/** @typedef {{ readonly param: string, readonly message: string }} Issue */

/** The server did not do what was asked; the message is its own. */
export class Refusal extends Error {
  /** @override */
  name = 'Refusal';

  /**
   * @param {number} status 0: the server did not answer
   * @param {string} code
   * @param {string} message
   * @param {readonly Issue[]} issues what is wrong with a card, field by field
   */
  constructor(status, code, message, issues = []) {
    super(message);
    this.status = status;
    this.code = code;
    this.issues = issues;
  }
}

/**
 * Asks the server. Throws a {@link Refusal} where it refuses, or does not answer.
 *
 * @param {string} path
 * @param {RequestInit} [options]
 */
export async function ask(path, options = {}) {
  const key = recall('tab', 'key');
  const headers = new Headers(options.headers);
  if (key !== '') headers.set('authorization', `Bearer ${key}`);
  const reply = await fetch(path, { ...options, headers }).catch(() => undefined);
  if (reply === undefined) throw new Refusal(0, '', 'The server cannot be reached. Nothing was changed; try again.');
  if (reply.ok) return reply;
  const { error } = await reply.json().catch(() => ({ error: {} }));
  const { code = '', message = `The server answered ${reply.status}.`, x_dramatis: more } = error;
  throw new Refusal(reply.status, code, message, more?.issues);
}

/**
 * @param {string} method
 * @param {string} path
 * @param {unknown} body
 * @param {Record<string, string>} [headers]
 */
export function sendJson(method, path, body, headers = {}) {
  return ask(path, { method, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) });
}

/** @param {string} id */
export function placeOf(id) {
  return `/characters/${encodeURIComponent(id)}`;
}
