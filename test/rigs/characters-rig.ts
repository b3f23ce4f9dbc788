import path from 'node:path';
import type { Card, DialoguePair } from '../../characters/card.ts';
import type { Engines } from '../../server/engines/engines.ts';
import { fakeEngines } from '../fakes/engines.ts';
import { serve } from './serve-rig.ts';
import { testFolder } from '../fakes/test-folder.ts';

/** A pack as returned by the server. */
export interface Told {
  readonly card: Card;
  readonly lines: readonly DialoguePair[];
  readonly editable: boolean;
}

/** A server with its own data folder, and its character routes. */
export async function serveCharacters(
  engines: Engines = fakeEngines(),
  dataDir?: string,
  flags: Record<string, string> = {},
) {
  const home = dataDir ?? path.join(testFolder(), 'data');
  const server = await serve({ engines, flags: { ...flags, dataDir: home } });
  const ask = (place: string, options: RequestInit = {}): Promise<Response> => fetch(`${server.url}${place}`, options);
  const sendJson = (method: string, place: string, body: unknown, headers: Record<string, string> = {}) =>
    ask(place, { method, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) });
  return {
    server,
    home,
    ask,
    sendJson,
    bringIn: (bytes: BodyInit, query = '') =>
      ask(`/characters/import${query}`, {
        method: 'POST',
        headers: { 'content-type': 'application/octet-stream' },
        body: bytes,
      }),
    put: (id: string, body: unknown, revision?: string) =>
      sendJson('PUT', `/characters/${id}`, body, revision === undefined ? {} : { 'if-match': revision }),
    read: async (id: string): Promise<Told & { readonly revision: string }> => {
      const reply = await ask(`/characters/${id}`);
      return { ...((await reply.json()) as Told), revision: reply.headers.get('etag') ?? '' };
    },
  };
}

/** Status, code and details of a refused request. */
export async function refusal(reply: Promise<Response>): Promise<{
  readonly status: number;
  readonly code: string;
  readonly param: string | null;
  readonly message: string;
  readonly issues: readonly { readonly param: string; readonly message: string }[];
}> {
  const answered = await reply;
  const { error } = (await answered.json()) as {
    error: { code: string; param: string | null; message: string; x_dramatis?: { issues: [] } };
  };
  const { code, param, message, x_dramatis: more } = error;
  return { status: answered.status, code, param, message, issues: more?.issues ?? [] };
}
