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
 *   left out
 * @returns {TalkSocket}
 */
export function dial({ url, apiKey = '', WebSocket = globalThis.WebSocket }, query) {
  const address = socketAddress(url);
  for (const [name, value] of Object.entries(query)) if (value !== undefined) address.searchParams.set(name, value);
  // Browsers cannot set headers on a WebSocket, so the key is sent as a subprotocol.
  const protocols = apiKey === '' ? ['realtime'] : ['realtime', `openai-insecure-api-key.${apiKey}`];
  const socket = new WebSocket(address, protocols);
  socket.binaryType = 'arraybuffer';
  return socket;
}

/**
 * Checks the health of a server that rejected a new connection, because browsers do not tell why.
 *
 * @param {Pick<TalkOptions, 'url' | 'fetch'>} options
 * @returns {Promise<'away' | 'busy' | 'well'>} `busy`: all its sessions are in use, or it is about
 *   to stop
 */
export async function diagnose({ url, fetch = globalThis.fetch }) {
  const address = socketAddress(url);
  address.protocol = address.protocol.replace(/^ws/, 'http');
  try {
    const reply = await fetch(new URL('/healthz', address));
    if (reply.status === 503) return 'busy';
    const { sessions } = reply.ok ? await reply.json() : {};
    return sessions?.active >= sessions?.most ? 'busy' : 'well';
  } catch {
    return 'away';
  }
}
