import type { FastifyInstance } from 'fastify';
import type { ClientSecrets } from '../http/client-secrets.ts';
import type { Door } from '../http/auth-guard.ts';
import { mostCardBytes, packIn } from './pack-body.ts';

/** How long a talk may be begun with a draft. */
const draftSeconds = 600;
/** Kept at a time, each as large as a card may be; the oldest goes first. */
const mostDrafts = 16;

/**
 * `POST /characters/draft`: a client secret for talks with a character as it stands in the request, saved or not. Nothing of it is
 * written down; as with any client secret, it is forgotten when it expires.
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
