import type { Character } from '../../../characters/character.ts';
import { accountsOf } from '../../config/api-keys.ts';
import { allows } from '../../http/client-secrets.ts';
import type { Access } from '../../http/access.ts';
import type { RestoredSession } from '../../journal/restore.ts';
import type { Problem } from '../../session/contract/events.ts';

/** The account, user and character that a resumable session belongs to. */
export interface SessionBinding extends Pick<RestoredSession, 'owner' | 'user' | 'character'> {
  /** It was opened with a client secret, so its user and character cannot change. */
  readonly bySecret: boolean;
}

/** Binds a session to the caller that opens it. `user` is the one that the client named. */
export function bindingOf({ owner, secret }: Access, character: Character, user: string | undefined): SessionBinding {
  const bySecret = secret !== undefined;
  return { owner, user: bySecret ? userIn(secret) : user, character: character.id, bySecret };
}

/**
 * Returns the problem of a caller that shows the resume token of a session together with a key, or with the name of a
 * user, that the session does not belong to. The token alone is enough.
 */
export function resumeProblem(
  binding: SessionBinding,
  { owner, secret, byToken }: Access,
  user: string | undefined,
): Problem | undefined {
  const isOwner = byToken === true || owner === binding.owner;
  const isBound = secret === undefined || (allows(secret, binding.character) && userIn(secret) === binding.user);
  if (isOwner && isBound && (user === undefined || user === binding.user)) return undefined;
  const message = 'The session belongs to another key, user or character than the resume token came with.';
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

function userIn({ startWith }: NonNullable<Access['secret']>): string | undefined {
  return startWith?.x_dramatis?.user ?? undefined;
}
