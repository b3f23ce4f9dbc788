import { isIPv6 } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config/config.ts';
import { accessOf, refusalOf, type Access } from './access.ts';
import type { ClientSecrets } from './client-secrets.ts';
import type { LiveSessions, Caller } from './live-sessions.ts';
import { sendRefusal, type Refusal } from './problem.ts';
import { TokenBucket } from './rate-limit.ts';

/** An `onRequest` hook that runs before the body is read. A refused request is answered here. */
export type Check = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

/**
 * Authentication, rate limit and capacity checks by kind of route. All are `onRequest` hooks, so the body of a refused
 * request is never read.
 */
export interface AuthGuard {
  /** For listings and for issuing client secrets: requires a server key, if the server has keys. */
  readonly serverKey: Check;
  /** For data of one user: requires a server key or a client secret. */
  readonly member: Check;
  /**
   * For requests that run engines: requires a server key and free capacity. The slot is released when the response
   * closes.
   */
  readonly work: Check;
  /**
   * For requests that start a conversation: requires a server key or a client secret, the rate limit and free capacity.
   */
  readonly session: Check;
  /** For a phone call, which sends its key only after the handshake: the rate limit. */
  readonly call: Check;
  /** Authenticates a caller by the key it has sent, or by its headers. Returns a `Refusal` if it is not allowed. */
  callerOf(request: FastifyRequest, key: string | undefined): (Caller & Access) | Refusal;
  /** The caller that `serverKey`, `member`, `work` or `session` has authenticated. */
  authenticatedCaller(request: FastifyRequest): Caller & Access;
}

/** Most addresses tracked; beyond it, idle ones are dropped. */
const mostAddresses = 10_000;

/** Builds the checks of one server. */
export function createAuthGuard(config: Config, secrets: ClientSecrets, sessions: LiveSessions): AuthGuard {
  const callers = new WeakMap<FastifyRequest, Caller & Access>();
  const handshakes = new Map<string, TokenBucket>();

  const identify = (request: FastifyRequest, secretsToo: boolean): Refusal | undefined => {
    const access = accessOf(request.headers, config, secrets);
    if ('status' in access) return access;
    if (access.secret !== undefined && !secretsToo) return serverKeyNeeded;
    callers.set(request, { ...access, address: addressOf(request.ip) });
    return undefined;
  };
  const takeHandshake = (address: string): Refusal | undefined => {
    const bucket = handshakes.get(address) ?? newBucket(config.maxHandshakesPerMinute);
    if (handshakes.size >= mostAddresses) forgetQuiet(handshakes);
    handshakes.set(address, bucket);
    return bucket.take() ? undefined : tooFast(bucket.waitMs);
  };
  const check =
    (find: (request: FastifyRequest, reply: FastifyReply) => Refusal | undefined): Check =>
    async (request, reply) => {
      const refusal = find(request, reply);
      if (refusal === undefined) return;
      request.log.info({ code: refusal.problem.code }, 'request refused');
      await sendRefusal(reply, refusal);
    };
  const callerOf = (request: FastifyRequest): Caller & Access => {
    const caller = callers.get(request);
    if (caller === undefined) throw new Error('the route does not check who comes in');
    return caller;
  };
  return {
    authenticatedCaller: callerOf,
    serverKey: check((request) => identify(request, false)),
    member: check((request) => identify(request, true)),
    call: check(
      (request) => takeHandshake(addressOf(request.ip)) ?? refusalOf(request.headers, { ...config, apiKeys: [] }),
    ),
    callerOf(request, key) {
      const shown = key === undefined ? {} : { authorization: `Bearer ${key}` };
      const access = accessOf({ ...request.headers, ...shown }, config, secrets);
      return 'status' in access ? access : { ...access, address: addressOf(request.ip) };
    },
    work: check((request, reply) => {
      const refusal = identify(request, false);
      if (refusal !== undefined) return refusal;
      const place = sessions.begin();
      if (typeof place !== 'function') return place;
      reply.raw.once('close', place);
      return undefined;
    }),
    session: check(
      (request) =>
        takeHandshake(addressOf(request.ip)) ??
        identify(request, true) ??
        (isReturning(request) ? undefined : sessions.refusalFor(callerOf(request))),
    ),
  };
}

/** A client that resumes its session has a slot already. */
function isReturning(request: FastifyRequest): boolean {
  return request.ws && (request.query as Record<string, unknown>)['resume'] !== undefined;
}

/**
 * Groups client addresses for the limits: an IPv4 address counts by itself, an IPv6 address by its /64, which is what
 * one customer is assigned.
 */
export function addressOf(ip: string | undefined): string {
  if (ip === undefined) return 'gone';
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)?.[1];
  if (mapped !== undefined || !isIPv6(ip)) return mapped ?? ip;
  const [head = '', tail] = ip.split('%')[0]?.split('::') ?? [];
  const groups = head === '' ? [] : head.split(':');
  const missing = tail === undefined ? 0 : 8 - groups.length - (tail === '' ? 0 : tail.split(':').length);
  const all = [...groups, ...Array.from({ length: missing }, () => '0'), ...(tail ?? '').split(':')];
  return `${all
    .slice(0, 4)
    .map((group) => Number.parseInt(group || '0', 16).toString(16))
    .join(':')}::/64`;
}

function newBucket(perMinute: number): TokenBucket {
  return new TokenBucket({ burst: perMinute, perSecond: perMinute / 60, now: () => performance.now() });
}

/** Drops addresses with a full bucket, which equals a new one. If none is full, drops the oldest. */
function forgetQuiet(handshakes: Map<string, TokenBucket>): void {
  for (const [address, bucket] of handshakes) if (bucket.full) handshakes.delete(address);
  const [oldest] = handshakes.keys();
  if (handshakes.size >= mostAddresses && oldest !== undefined) handshakes.delete(oldest);
}

const serverKeyNeeded: Refusal = {
  status: 403,
  problem: {
    code: 'server_key_needed',
    message: 'A client secret only opens conversations. Send one of the server’s keys for anything else.',
  },
};

function tooFast(waitMs: number): Refusal {
  const message = 'This address opened too many connections in a short time. Wait a moment, then retry.';
  return { status: 429, problem: { code: 'rate_limit_exceeded', message }, retryAfterSeconds: waitMs / 1000 };
}
