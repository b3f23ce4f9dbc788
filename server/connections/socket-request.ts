import type { FastifyRequest } from 'fastify';
import { resumeTokenOf } from '../http/access.ts';
import { speaksBeta } from '../realtime/beta.ts';
import type { Client } from '../realtime/peer.ts';

/** Request of a client, as its handshake of a WebSocket gives it. */
export interface SocketRequest {
  readonly model?: string;
  /** `transcription`: the session only transcribes; then `model` names a recognizer, not a character. */
  readonly intent?: string;
  /**
   * Extensions to enable, comma-separated: `binary`, `opus` (implies binary), `resume`, `hold`, `nod`, `notice`,
   * `voice`, `cues`, `thoughts`, `visemes`, `phones` (implies visemes), `relations`, `sections`.
   */
  readonly x?: string;
  /** Resume token, from any part of the handshake, and the sequence number of the last frame that the client received. */
  readonly resume?: string;
  readonly after?: string;
  /** Part of the reply in progress that the client has received: the id of its response, a dot, and samples on the wire. */
  readonly at?: string;
  /** The user that the character is to remember. */
  readonly user?: string;
  /** The client speaks the pre-GA dialect. */
  readonly beta?: boolean;
  /** Time at which the request arrived, of `performance.now()`. */
  readonly arrivedMs?: number;
}

/** What a client asks for with the handshake of its WebSocket. If a parameter is repeated, the first value counts. */
export function socketRequestOf({ headers, query }: Pick<FastifyRequest, 'headers' | 'query'>): SocketRequest {
  const asked: Record<string, string> = {};
  for (const [name, value] of Object.entries(query as Record<string, string | string[]>)) {
    const first = Array.isArray(value) ? value[0] : value;
    if (first !== undefined) asked[name] = first;
  }
  const token = resumeTokenOf(headers, query);
  return { ...asked, ...(token === undefined ? {} : { resume: token }), beta: speaksBeta(headers) };
}

export function extensionsOf({ x = '' }: SocketRequest): ReadonlySet<string> {
  return new Set(x.split(','));
}

/** Capabilities of the client, by its extensions. */
export function clientOf(extensions: ReadonlySet<string>, beta: boolean): Client {
  return {
    beta,
    holds: extensions.has('hold'),
    nods: extensions.has('nod'),
    notice: extensions.has('notice'),
    cues: extensions.has('thoughts') ? 'all' : extensions.has('cues') ? 'visible' : 'none',
    mouth: extensions.has('phones') ? 'phones' : extensions.has('visemes') ? 'visemes' : undefined,
    voice: extensions.has('voice'),
    relations: extensions.has('relations'),
    sections: extensions.has('sections'),
  };
}
