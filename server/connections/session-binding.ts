import type { Character } from '../../characters/character.ts';
import { accountsOf } from '../config/api-keys.ts';
import type { Access } from '../http/access.ts';
import { allows } from '../http/client-secrets.ts';
import type { RestoredSession } from '../journal/restore.ts';
import type { Problem } from '../session/contract/events.ts';

/** The account, user and character that a resumable session belongs to. */
export interface SessionBinding extends Pick<RestoredSession, 'owner' | 'user' | 'character' | 'medium'> {
  /** It was opened with a client secret, so its user and character cannot change. */
  readonly bySecret: boolean;
}

/** The account, user and character of a session, and its transport. */
interface Bound {
  readonly character: Character;
  /** The one that the client named. */
  readonly user?: string | undefined;
  readonly medium?: SessionBinding['medium'];
}

/** Binds a session to the caller that opens it. */
export function bindingOf({ owner, secret }: Access, { character, user, medium }: Bound): SessionBinding {
  const bySecret = secret !== undefined;
  return { owner, user: bySecret ? userIn(secret) : user, character: character.id, bySecret, medium };
}

/** Way in which a caller comes back. */
interface Return {
  /** The user that it names. */
  readonly user?: string | undefined;
  readonly medium?: SessionBinding['medium'];
}

/**
 * Returns the problem of a caller that shows the resume token of a session together with a key, or with the name of a
 * user, that the session does not belong to, or that comes over something else. The token is enough.
 */
export function resumeProblem(
  binding: SessionBinding,
  { owner, secret, byToken }: Access,
  { user, medium }: Return,
): Problem | undefined {
  if (medium !== binding.medium) return otherMedium(binding.medium);
  const isOwner = byToken === true || owner === binding.owner;
  const isBound = secret === undefined || (allows(secret, binding.character) && userIn(secret) === binding.user);
  if (isOwner && isBound && (user === undefined || user === binding.user)) return undefined;
  const message = 'The session belongs to another key, user or character than the resume token.';
  return { code: 'resume_not_allowed', message };
}

/**
 * The caller that a restored session counts for: the one that opened it, as far as the server still knows its account.
 * Its client secret ended with the server that made it.
 */
export function openerOf(
  { owner, user, bySecret, terms, account }: Pick<RestoredSession, 'owner' | 'user' | 'bySecret' | 'terms' | 'account'>,
  character: Character,
  apiKeys: readonly string[],
): Access | undefined {
  const accounts = accountsOf(apiKeys);
  if (owner === undefined ? accounts.size > 0 : !accounts.has(owner)) return undefined;
  const startWith = user === undefined ? undefined : { x_dramatis: { user } };
  return { owner, secret: bySecret ? { character, startWith, terms, account, owner, expiresAtMs: 0 } : undefined };
}

const media = {
  socket: 'a WebSocket',
  call: 'a WebRTC call (POST /v1/realtime/calls)',
  phone: 'a phone call',
};

function otherMedium(medium: SessionBinding['medium']): Problem {
  const message = `The session was opened over ${media[medium ?? 'socket']}. Resume it in the same way.`;
  return { code: 'session_not_resumable', message };
}

function userIn({ startWith }: NonNullable<Access['secret']>): string | undefined {
  return startWith?.x_dramatis?.user ?? undefined;
}
