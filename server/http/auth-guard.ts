import type { IncomingHttpHeaders } from 'node:http';
import { isIPv6 } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config/config.ts';
import { isLoopback } from '../config/loopback.ts';
import { limits } from '../limits/limits.ts';
import { accessOf, keyOf, originRefusal, refusalOf, remoteRefusal, resumeTokenOf, type Access } from './access.ts';
import { secretPrefix, type ClientSecrets } from './client-secrets.ts';
import { FailedKeys, RefusalLog, type FailedKeyReason } from './failed-keys.ts';
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
  /**
   * For settings of the server: requires a server key. A server without keys must be asked from its own machine, by its
   * own page or by a program, and not through a proxy.
   */
  readonly admin: Check;
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
  /** Returns whether a request comes from this machine, or with a valid key. */
  isInsider(request: FastifyRequest): boolean;
  /** The address of a request, as the limits count it. */
  addressOf(request: FastifyRequest): string;
  /** Authenticates a caller by the key it has sent, or by its headers. Returns a `Refusal` if it is not allowed. */
  callerOf(request: FastifyRequest, key: string | undefined): Promise<(Caller & Access) | Refusal>;
  /** The caller that `serverKey`, `member`, `work` or `session` has authenticated. */
  authenticatedCaller(request: FastifyRequest): Caller & Access;
}

/** Dependencies of the checks. */
interface GuardParts {
  readonly config: Config;
  readonly secrets: ClientSecrets;
  readonly sessions: LiveSessions;
  /** Returns whether a session can be resumed with a token, or the refusal if that is unknown. */
  readonly isResumable: (token: string) => boolean | Promise<boolean | Refusal>;
  /** Looks for a client secret that another node has made. Returns the refusal if that is unknown. */
  readonly learnSecret?: ((key: string | undefined) => Promise<Refusal | undefined>) | undefined;
  /** The client's address, if another node of ours has passed the request on. */
  readonly relayedAddress?: ((headers: IncomingHttpHeaders) => string | undefined) | undefined;
  /** Counts requests without a valid key. */
  readonly onFailedKey?: (reason: FailedKeyReason) => void;
  /** Counts what is refused, by the code of the error. */
  readonly onRefusal?: (code: string) => void;
}

/** Builds the checks of one server. */
export function createAuthGuard(parts: GuardParts): AuthGuard {
  const { config, secrets, sessions, onFailedKey } = parts;
  const callers = new WeakMap<FastifyRequest, Caller & Access>();
  const takeHandshake = handshakeLimit(config.maxHandshakesPerMinute);

  const authenticate = authenticator(config, secrets, onFailedKey);
  const identify = (request: FastifyRequest, secretsToo: boolean): Refusal | undefined => {
    const address = addressOf(request.ip);
    const access = authenticate(request.headers, address);
    if ('status' in access) return access;
    if (access.secret !== undefined && !secretsToo) return serverKeyNeeded;
    callers.set(request, { ...access, address });
    return undefined;
  };
  const check = checkMaker(parts);
  const callerOf = (request: FastifyRequest): Caller & Access => {
    const caller = callers.get(request);
    if (caller === undefined) throw new Error('the route does not check its caller');
    return caller;
  };
  return {
    authenticatedCaller: callerOf,
    addressOf: (request) => addressOf(request.ip),
    isInsider: (request) =>
      isLocal(request) ||
      (config.apiKeys.length > 0 && keyOf(request.headers) !== undefined && identify(request, true) === undefined),
    serverKey: check((request) => identify(request, false)),
    admin: check(
      (request) => identify(request, false) ?? remoteRefusal(request.headers, request.socket.remoteAddress, config),
    ),
    member: check((request) => identify(request, true)),
    call: check(
      (request) => takeHandshake(addressOf(request.ip)) ?? refusalOf(request.headers, { ...config, apiKeys: [] }),
    ),
    callerOf: (request, key) => callerByKey(request, key, parts.learnSecret, authenticate),
    work: check((request, reply) => {
      const refusal = identify(request, false);
      if (refusal !== undefined) return refusal;
      const place = sessions.begin(callerOf(request));
      if (typeof place !== 'function') return place;
      reply.raw.once('close', place);
      return undefined;
    }),
    session: check(async (request) => {
      const relayed = parts.relayedAddress?.(request.headers);
      const tooMany = relayed === undefined ? takeHandshake(addressOf(request.ip)) : undefined;
      if (tooMany !== undefined) return tooMany;
      const token = resumeTokenOf(request.headers, request.query);
      const resuming = token === undefined ? undefined : await resumingCaller(request, token, parts);
      if (resuming !== undefined && 'status' in resuming) return resuming;
      if (resuming !== undefined) callers.set(request, { ...resuming, address: relayed ?? resuming.address });
      // A client that resumes its session has a slot already.
      if (token !== undefined) return resuming === undefined ? identify(request, true) : undefined;
      return identify(request, true) ?? sessions.refusalFor(callerOf(request));
    }, resumeTokenOf),
  };
}

/** Authenticates a caller that sends its key after its headers. */
async function callerByKey(
  { headers, ip }: FastifyRequest,
  key: string | undefined,
  learnSecret: GuardParts['learnSecret'],
  authenticate: ReturnType<typeof authenticator>,
): Promise<(Caller & Access) | Refusal> {
  const unknown = await learnSecret?.(key);
  const shown = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const address = addressOf(ip);
  const access = unknown ?? authenticate({ ...headers, ...shown }, address);
  return 'status' in access ? access : { ...access, address };
}

type Find = (request: FastifyRequest, reply: FastifyReply) => Refusal | undefined | Promise<Refusal | undefined>;

/**
 * Returns the function that makes a hook which answers and logs what `find` refuses. `tokenOf`: the resume token of a
 * request, for which no client secret need be known.
 */
function checkMaker({
  learnSecret,
  onRefusal,
}: Pick<GuardParts, 'learnSecret' | 'onRefusal'>): (find: Find, tokenOf?: typeof resumeTokenOf) => Check {
  const refusals = new RefusalLog();
  return (find, tokenOf) => async (request, reply) => {
    const unknown = await learnSecret?.(keyOf(request.headers));
    const isResuming = tokenOf?.(request.headers, request.query) !== undefined;
    const refusal = (isResuming ? undefined : unknown) ?? (await find(request, reply));
    if (refusal === undefined) return;
    const address = addressOf(request.ip);
    const { code } = refusal.problem;
    refusals.note(address, (times) => request.log.info({ code, address, times }, 'request refused'));
    onRefusal?.(code);
    await sendRefusal(reply, refusal);
  };
}

/** Returns the function that authenticates a caller by its headers, unless its address has shown too many wrong keys. */
function authenticator(
  config: Config,
  secrets: ClientSecrets,
  onFailedKey: GuardParts['onFailedKey'] = () => undefined,
): (headers: IncomingHttpHeaders, address: string) => Access | Refusal {
  const failedKeys = new FailedKeys(onFailedKey);
  return (headers, address) => {
    const access = accessOf(headers, config, secrets);
    const key = keyOf(headers);
    // A server without keys takes any but an invented client secret.
    const isChecked = key !== undefined && (config.apiKeys.length > 0 || key.startsWith(secretPrefix));
    const isRight = !('status' in access);
    const throttled = isChecked ? failedKeys.refusalFor(address, isRight ? access.owner : undefined) : undefined;
    if (throttled !== undefined) return throttled;
    if (isRight && isChecked) failedKeys.accepted(address, access.owner);
    if (!isRight && access.status === 401) failedKeys.failed(address, key === undefined ? 'missing' : 'wrong');
    return access;
  };
}

/**
 * The caller of a request that shows the resume token of a session, and may show a key, too. Undefined if the token is
 * not valid: without a valid key, nothing is upgraded then.
 */
async function resumingCaller(
  { headers, ip }: FastifyRequest,
  token: string,
  { config, secrets, isResumable }: GuardParts,
): Promise<(Caller & Access) | Refusal | undefined> {
  if (originRefusal(headers, config) !== undefined) return undefined;
  const found = await isResumable(token);
  if (typeof found === 'object') return found;
  if (!found) return undefined;
  const access = accessOf(headers, config, secrets);
  const shown: Access = 'status' in access ? { owner: undefined, secret: undefined, byToken: true } : access;
  return { ...shown, address: addressOf(ip) };
}

/** Returns the function that counts a handshake of an address. */
function handshakeLimit(perMinute: number): (address: string) => Refusal | undefined {
  const handshakes = new Map<string, TokenBucket>();
  return (address) => {
    const bucket = handshakes.get(address) ?? newBucket(perMinute);
    if (handshakes.size >= limits.addresses.value) forgetQuiet(handshakes);
    handshakes.set(address, bucket);
    return bucket.take() ? undefined : tooFast(bucket.waitMs);
  };
}

/** Returns whether a request comes from this machine. One that a proxy here passes on comes from elsewhere. */
function isLocal({ headers, ip }: { readonly headers: IncomingHttpHeaders; readonly ip?: string }): boolean {
  const isProxied = headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined;
  // A socket that has closed has no address any more.
  return !isProxied && ip !== undefined && isLoopback(ip.replace(/^::ffff:/i, ''));
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
  if (handshakes.size >= limits.addresses.value && oldest !== undefined) handshakes.delete(oldest);
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
