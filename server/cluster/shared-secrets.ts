import { createHash } from 'node:crypto';
import type { Character } from '../../characters/character.ts';
import { secretPrefix, type ClientSecret, type ClientSecrets } from '../http/client-secrets.ts';
import type { Refusal } from '../http/problem.ts';
import { StoreUnavailable, type Cluster } from './cluster.ts';

/** A client secret in the store, without its expiry, because the store's own clock counts. */
type Facts = Pick<ClientSecret, 'startWith' | 'terms' | 'owner'> & { readonly character: string };

const unavailable: Refusal = {
  status: 503,
  problem: {
    code: 'store_unavailable',
    message: 'The store that keeps the client secrets of all nodes does not answer. Try again.',
  },
  retryAfterSeconds: 1,
};

/** Client secrets that every node knows. The store has their hashes only. */
export class SharedSecrets {
  readonly #cluster: Pick<Cluster, 'putSecret' | 'secret'>;
  readonly #own: ClientSecrets;
  readonly #characters: ReadonlyMap<string, Character>;

  /** `own`: the secrets that this node knows; those of others are added to them when they are shown. */
  constructor(
    cluster: Pick<Cluster, 'putSecret' | 'secret'>,
    own: ClientSecrets,
    characters: ReadonlyMap<string, Character>,
  ) {
    this.#cluster = cluster;
    this.#own = own;
    this.#characters = characters;
  }

  /** Makes a secret of this node known to the others. Returns the refusal if that fails: it is revoked then. */
  async share(value: string): Promise<Refusal | undefined> {
    const secret = this.#own.find(value);
    if (secret === undefined) return undefined;
    const { character, startWith, terms, owner, expiresAtMs } = secret;
    const facts: Facts = { character: character.id, startWith, terms, owner };
    try {
      await this.#cluster.putSecret(hashOf(value), JSON.stringify(facts), Math.max(1, expiresAtMs - Date.now()));
      return undefined;
    } catch (fault) {
      this.#own.revoke(value);
      return refusalOf(fault);
    }
  }

  /** Looks for a key that may be a secret of another node. Returns the refusal if that is unknown. */
  async learn(key: string | undefined): Promise<Refusal | undefined> {
    if (key?.startsWith(secretPrefix) !== true || this.#own.find(key) !== undefined) return undefined;
    try {
      const found = await this.#cluster.secret(hashOf(key));
      const facts = found && (JSON.parse(found.facts) as Facts);
      const character = facts && this.#characters.get(facts.character);
      if (found === undefined || facts === undefined || character === undefined) return undefined;
      const { startWith, terms, owner } = facts;
      this.#own.adopt(key, { character, startWith, terms, owner, expiresAtMs: Date.now() + found.leftMs });
      return undefined;
    } catch (fault) {
      return refusalOf(fault);
    }
  }
}

function refusalOf(fault: unknown): Refusal {
  if (fault instanceof StoreUnavailable) return unavailable;
  throw fault;
}

function hashOf(value: string): string {
  return createHash('sha256').update(value).digest('base64url');
}
