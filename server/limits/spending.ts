/** Cost of replies: their number, tokens read and written by LLMs, speech, and money at the prices of the server. */
export interface Spent {
  readonly replies: number;
  readonly tokens: number;
  readonly audioMs: number;
  readonly cost: number;
}

export const nothingSpent: Spent = { replies: 0, tokens: 0, audioMs: 0, cost: 0 };

const fields = ['replies', 'tokens', 'audioMs', 'cost'] as const;

/** Most that may be spent; without limit if absent. */
export interface SpendingLimits {
  readonly replies?: number | undefined;
  readonly tokens?: number | undefined;
  readonly audio_s?: number | undefined;
  readonly cost?: number | undefined;
}

/** Prices: of a million tokens read or written, and of a minute of speech. */
export interface Prices {
  readonly input: number;
  readonly output: number;
  readonly audio: number;
}

/** Adds amounts to the counts that all nodes share, and returns the totals. Rejects if they do not answer. */
export type SharedSpending = (account: string, amounts: readonly number[], stayMs: number) => Promise<number[]>;

/** Counts are kept for longer than the longest session since they were last used. */
const stayMs = 25 * 3_600_000;
/** Accounts counted at once; the one that was used longest ago is forgotten first. */
const mostAccounts = 100_000;

/**
 * Spending of each client secret, over all of its sessions; of all nodes, if they share a store. While that does not
 * answer, each node counts its own.
 */
export class Spending {
  readonly #shared: SharedSpending | undefined;
  readonly #accounts = new Map<string, { spent: Spent; atMs: number }>();

  constructor(shared?: SharedSpending) {
    this.#shared = shared;
  }

  /** Adds amounts, which may be less than 0, and returns the totals. Never rejects. */
  async add(account: string, amounts: Partial<Spent>): Promise<Spent> {
    const own = this.#keep(account, (spent) => combined(spent, amounts, (one, other) => one + other));
    const change = fields.map((field) => amounts[field] ?? 0);
    const totals = await this.#shared?.(account, change, stayMs).catch(() => undefined);
    if (totals === undefined) return own;
    const [replies = 0, tokens = 0, audioMs = 0, cost = 0] = totals;
    return combined(own, { replies, tokens, audioMs, cost }, Math.max);
  }

  /** Continues with the counts of a session of an earlier process. */
  restore(account: string, spent: Spent): void {
    this.#keep(account, (known) => combined(known, spent, Math.max));
  }

  #keep(account: string, change: (spent: Spent) => Spent): Spent {
    const atMs = Date.now();
    const known = this.#accounts.get(account);
    const before = known === undefined || known.atMs + stayMs < atMs ? nothingSpent : known.spent;
    const spent = change(before);
    this.#accounts.delete(account);
    this.#accounts.set(account, { spent, atMs });
    const [oldest] = this.#accounts.keys();
    if (this.#accounts.size > mostAccounts && oldest !== undefined) this.#accounts.delete(oldest);
    return spent;
  }
}

function combined(one: Spent, other: Partial<Spent>, how: (left: number, right: number) => number): Spent {
  const all = fields.map((field) => [field, how(one[field], other[field] ?? 0)]);
  return Object.fromEntries(all);
}

/** The rest of a limit; negative if more was spent. */
export interface Left {
  readonly limit: keyof SpendingLimits;
  readonly left: number;
  readonly of: number;
}

/** Returns what is left of each limit. */
export function leftOf(limits: SpendingLimits, { replies, tokens, audioMs, cost }: Spent): Left[] {
  const spent = { replies, tokens, audio_s: audioMs / 1000, cost };
  return (['replies', 'tokens', 'audio_s', 'cost'] as const).flatMap((limit) => {
    const of = limits[limit];
    return of === undefined ? [] : [{ limit, left: of - spent[limit], of }];
  });
}
