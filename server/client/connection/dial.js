/** @import { TalkOptions, TalkSocket } from '../types/api.d.ts' */

/**
 * @param {string | URL} url of a server: http(s) or ws(s); the path may be left out
 * @returns {URL} URL of its realtime socket
 */
export function socketAddress(url) {
  const address = new URL(url);
  address.protocol = address.protocol.replace(/^http/, 'ws');
  if (address.pathname === '/') address.pathname = '/v1/realtime';
  return address;
}

/**
 * Opens a socket to a server. Throws if the key has characters that are not allowed in a
 * subprotocol.
 *
 * @param {Pick<TalkOptions, 'url' | 'apiKey' | 'WebSocket'>} options
 * @param {Readonly<Record<string, string | undefined>>} query query parameters; undefined ones are
 *   left out. `resume`, the resume token, is sent as a subprotocol.
 * @returns {TalkSocket}
 */
export function dial({ url, apiKey = '', WebSocket = globalThis.WebSocket }, query) {
  const address = socketAddress(url);
  const { resume, ...others } = query;
  for (const [name, value] of Object.entries(others)) if (value !== undefined) address.searchParams.set(name, value);
  // Browsers cannot set headers on a WebSocket, so secrets are sent as subprotocols; proxies log what is in the query.
  const protocols = ['realtime'];
  if (apiKey !== '') protocols.push(`openai-insecure-api-key.${apiKey}`);
  if (resume !== undefined) protocols.push(`dramatis-resume.${resume}`);
  const socket = new WebSocket(address, protocols);
  socket.binaryType = 'arraybuffer';
  return socket;
}

/**
 * Checks the health of a server that rejected a new connection, because browsers do not report the reason.
 *
 * @param {Pick<TalkOptions, 'url' | 'apiKey' | 'fetch'>} options
 * @returns {Promise<'away' | 'busy' | 'well'>} `busy`: all its sessions are in use, or it is about
 *   to stop
 */
export async function diagnose({ url, apiKey = '', fetch = globalThis.fetch }) {
  const address = socketAddress(url);
  address.protocol = address.protocol.replace(/^ws/, 'http');
  try {
    // Strangers learn only whether the server is up.
    const headers = apiKey === '' ? {} : { authorization: `Bearer ${apiKey}` };
    const reply = await fetch(new URL('/healthz', address), { headers });
    if (reply.status === 503) return 'busy';
    const { sessions } = reply.ok ? await reply.json() : {};
    return sessions?.active >= sessions?.most ? 'busy' : 'well';
  } catch {
    return 'away';
  }
}

/** Protocol extensions requested in the URL; servers ignore those they do not know. */
const EXTENSIONS = 'binary,resume,hold,nod,notice,voice,cues';

/** @typedef {Readonly<Record<string, string | undefined>>} Query */

/**
 * Returns the query that opens a session, or resumes one.
 *
 * @param {{ character: string | undefined, thoughts: boolean | undefined, visemes: boolean | undefined, opus: boolean }} wanted
 * @param {{ token: string, received: number, reply: { responseId: string, samples: number } | undefined }} [left] the
 *   session to resume, its last frame received, and how much of the reply in progress that is
 * @returns {Query}
 */
export function queryOf({ character: model, thoughts, visemes, opus }, left) {
  const x = [
    EXTENSIONS,
    ...(thoughts === true ? ['thoughts'] : []),
    ...(visemes === true ? ['visemes'] : []),
    ...(opus ? ['opus'] : []),
  ].join();
  if (left === undefined) return { model, x };
  const at = left.reply && `${left.reply.responseId}.${left.reply.samples}`;
  return { x, resume: left.token, after: String(left.received), at };
}
