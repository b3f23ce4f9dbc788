import { endedStayMs, refusalStayMs, type RunLedger } from './ledger.ts';
import type { RunFacts } from './run-facts.ts';

/** Prefix of all keys, also of the queues. */
export const prefix = 'dramatis-jobs';

/** Reserves the next start of KEYS[1] at ARGV[1], ARGV[2] ms after the one before; returns the milliseconds until then. */
const reserveScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local start = math.max(now, tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or '0'))
redis.call('HSET', KEYS[1], ARGV[1], start + ARGV[2])
return start - now`;

/** Lets the next start be ARGV[2] ms from now at the earliest. */
const restScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local start = math.max(now + ARGV[2], tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or '0'))
redis.call('HSET', KEYS[1], ARGV[1], start)`;

/** Raises the number at KEYS[1] to ARGV[1]. */
const raiseScript = `
local known = tonumber(redis.call('GET', KEYS[1]) or '0')
if known < tonumber(ARGV[1]) then redis.call('SET', KEYS[1], ARGV[1]) end`;

type Command = (name: string, ...args: readonly (string | number)[]) => Promise<unknown>;

/** The ledger in a Redis 6.2 or later, or Valkey. */
export function redisLedger(command: Command): RunLedger {
  return {
    async announce(facts) {
      await command('set', key('run', facts.id), JSON.stringify(facts), 'PX', facts.leaseMs);
      await command('sadd', key('runs'), facts.id);
    },
    renew: async ({ id, leaseMs }) => (await command('pexpire', key('run', id), leaseMs)) === 1,
    async withdraw(id, { isWhole }) {
      if (isWhole) await command('set', key(id, 'ended'), 1, 'PX', endedStayMs);
      await command('del', key('run', id));
      await command('srem', key('runs'), id);
    },
    hasEnded: async (id) => (await command('exists', key(id, 'ended'))) === 1,
    async runs() {
      const ids = (await command('smembers', key('runs'))) as string[];
      const texts = await Promise.all(ids.map((id) => command('get', key('run', id)) as Promise<string | null>));
      return texts.flatMap((text) => (text === null ? [] : [JSON.parse(text) as RunFacts]));
    },
    spend: async (run, dollars) => Number(await command('incrbyfloat', key(run, 'spent'), dollars)),
    async raiseSpent(run, dollars) {
      await command('eval', raiseScript, 1, key(run, 'spent'), dollars);
    },
    reserve: async (run, endpoint, gapMs) =>
      Number(await command('eval', reserveScript, 1, key(run, 'turns'), endpoint, Math.ceil(gapMs))),
    async rest(run, endpoint, ms) {
      await command('eval', restScript, 1, key(run, 'turns'), endpoint, Math.ceil(ms));
    },
    async refuse(run, reason) {
      await command('lpush', key(run, 'refusals'), reason);
      await command('pexpire', key(run, 'refusals'), refusalStayMs);
    },
    nextRefusal: async (run) => (await command('rpop', key(run, 'refusals'))) as string | null,
    async clear(run) {
      await command('del', key(run, 'spent'), key(run, 'refusals'), key(run, 'turns'));
    },
  };
}

function key(...parts: readonly string[]): string {
  return [prefix, ...parts].join(':');
}
