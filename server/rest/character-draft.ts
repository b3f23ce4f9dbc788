import type { FastifyInstance } from 'fastify';
import type { ClientSecrets } from '../http/client-secrets.ts';
import type { Door } from '../http/auth-guard.ts';
import { mostCardBytes, packIn } from './pack-body.ts';

/** Time within which a conversation with a draft can be started. */
const draftSeconds = 600;
/** Most drafts kept, each up to the size of a card; the oldest is dropped first. */
const mostDrafts = 16;

/**
 * `POST /characters/draft`: a client secret for conversations with the character in the request body, saved or not.
 * Nothing is written to disk; like any client secret, it is dropped when it expires.
 */
export function addDraft(scope: FastifyInstance, secrets: ClientSecrets, door: Door): void {
  const drafts: string[] = [];
  scope.post('/characters/draft', { bodyLimit: mostCardBytes }, async (request, reply) => {
    const pack = packIn(request.body, reply);
    if (pack === undefined) return reply;
    const expiresAtMs = Date.now() + draftSeconds * 1000;
    const character = Object.freeze({ ...pack.card, lines: Object.freeze(pack.lines) });
    const { owner } = door.visitorOf(request);
    const value = secrets.issue({ character, startWith: undefined, owner, expiresAtMs });
    drafts.push(value);
    const oldest = drafts.length > mostDrafts ? drafts.shift() : undefined;
    if (oldest !== undefined) secrets.revoke(oldest);
    return { value, expires_at: Math.floor(expiresAtMs / 1000) };
  });
}
