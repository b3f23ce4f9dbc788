import { randomUUID } from 'node:crypto';
import type { Script } from './scripts.ts';

/** A place is free again when the node that took it has not said for this long that it is still taken. */
const stayMs = 30_000;
const refreshMs = 10_000;

/**
 * Takes places in a sorted set, by the time until which each is taken; the store's own clock counts. KEYS: the set. ARGV:
 * milliseconds, most places (less than 0: any number), places. Answers 0 if there is no room for them.
 */
const take: Script = {
  lua: `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local most = tonumber(ARGV[2])
if most >= 0 and redis.call('ZCARD', KEYS[1]) + #ARGV - 2 > most then return 0 end
for at = 3, #ARGV do redis.call('ZADD', KEYS[1], now + ARGV[1], ARGV[at]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1
`,
};

/** Adds amounts to the fields of a hash. KEYS: the hash. ARGV: milliseconds to keep it, amounts. Answers the totals. */
const spend: Script = {
  lua: `
local totals = {}
for at = 2, #ARGV do totals[at - 1] = redis.call('HINCRBYFLOAT', KEYS[1], at - 1, ARGV[at]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return totals
`,
};

/** A limit that all nodes count for together: what it counts by, and how many it allows. */
export interface SharedLimit {
  readonly name: string;
  readonly most: number;
}

/** Commands to the store. A rejection means that it does not answer. */
export interface CountCommands {
  run(script: Script, key: string, args: readonly (string | number)[]): Promise<unknown>;
  remove(key: string, place: string): Promise<unknown>;
}

/** Sessions of all nodes by account and address. While the store does not answer, each node counts its own. */
export class SharedCounts {
  readonly #commands: CountCommands;
  /** Places that are taken, by key in the store. */
  readonly #taken = new Map<string, Set<string>>();
  readonly #timer: NodeJS.Timeout;

  constructor(commands: CountCommands) {
    this.#commands = commands;
    this.#timer = setInterval(() => void this.#refresh(), refreshMs);
    this.#timer.unref();
  }

  /** Takes a place under each limit. Returns the function that leaves them, or the first limit that has been reached. */
  async enter(limits: readonly SharedLimit[]): Promise<(() => void) | SharedLimit> {
    const place = randomUUID();
    const entered: string[] = [];
    const leave = (): void => {
      for (const key of entered.splice(0)) this.#leave(key, place);
    };
    for (const limit of limits) {
      const key = `dramatis:count:${limit.name}`;
      const hasRoom = await this.#commands.run(take, key, [stayMs, limit.most, place]).catch(() => undefined);
      if (hasRoom === 0) {
        leave();
        return limit;
      }
      entered.push(key);
      this.#taken.set(key, (this.#taken.get(key) ?? new Set()).add(place));
    }
    return leave;
  }

  /** Adds to what an account has spent on all nodes, and returns the totals. Rejects if the store does not answer. */
  async spend(account: string, amounts: readonly number[], keptMs: number): Promise<number[]> {
    const totals = await this.#commands.run(spend, `dramatis:spent:${account}`, [keptMs, ...amounts]);
    return (totals as string[]).map(Number);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #leave(key: string, place: string): void {
    const places = this.#taken.get(key);
    places?.delete(place);
    if (places?.size === 0) this.#taken.delete(key);
    void this.#commands.remove(key, place).catch(() => undefined);
  }

  async #refresh(): Promise<void> {
    for (const [key, places] of this.#taken)
      await this.#commands.run(take, key, [stayMs, -1, ...places]).catch(() => undefined);
  }
}
