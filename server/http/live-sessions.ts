import { accountsOf } from '../config/api-keys.ts';
import type { Config } from '../config/config.ts';
import { Quota } from '../limits/quota.ts';
import { systemClock, type Clock } from '../session/contract/clock.ts';
import type { SessionListener } from '../session/contract/events.ts';
import type { Refusal } from './problem.ts';

/** The caller of a conversation: its account and its address, which the limits count by. */
export interface Caller {
  /** Undefined if the server needs no keys; then callers cannot be distinguished by account. */
  readonly owner: string | undefined;
  readonly address: string;
}

/** A slot of the server's capacity, held by a conversation until it calls `leave`. */
export interface SessionSlot extends SessionListener {
  leave(): void;
}

/** A connection that can be closed, and terminated if it does not close. */
interface Socket {
  close(code: number, reason: string): void;
  terminate(): void;
  once(event: 'close', listener: () => void): unknown;
}

interface Held {
  readonly caller: Caller | undefined;
  /** Ends the conversation and informs the client that the server is stopping. */
  readonly end: () => void;
  replies: number;
  isEnding?: true;
}

/** Hands the conversations of a stopping node to the others. */
export interface DrainPace {
  readonly noticeMs?: number;
  readonly apartMs?: number;
}

type Limits = Pick<
  Config,
  'apiKeys' | 'maxSessions' | 'maxSessionsPerKey' | 'maxSessionsPerAddress' | 'maxRequests' | 'maxRequestsPerKey'
>;

/** The share of one account in `most` places: half, unless it is the only one or the operator says otherwise. */
function shareOf(most: number, set: number | undefined, apiKeys: readonly string[]): number {
  return set ?? (accountsOf(apiKeys).size > 1 ? Math.ceil(most / 2) : most);
}

/** RFC 6455 §7.4.1: going away. */
const goingAway = 1001;
/** Time that a client has to answer a close frame. */
const closeTimeoutMs = 2_000;

/** The conversations and requests in progress: counts them, enforces the limits and drains them. */
export class LiveSessions {
  readonly #limits: Limits;
  readonly #clock: Clock;
  readonly #sockets = new Set<Socket>();
  readonly #places = new Set<Held>();
  readonly #sessionsPerKey: number;
  readonly #requests: Quota;
  #opened = 0;
  #draining = false;
  #onChange: () => void = () => undefined;

  constructor(limits: Limits, clock: Clock = systemClock) {
    const { apiKeys, maxSessions, maxSessionsPerKey, maxRequests, maxRequestsPerKey } = limits;
    this.#limits = limits;
    this.#sessionsPerKey = shareOf(maxSessions, maxSessionsPerKey, apiKeys);
    this.#requests = new Quota({ total: maxRequests, perKey: shareOf(maxRequests, maxRequestsPerKey, apiKeys) });
    this.#clock = clock;
  }

  get active(): number {
    return this.#places.size;
  }

  /** Most conversations at a time. */
  get most(): number {
    return this.#limits.maxSessions;
  }

  get opened(): number {
    return this.#opened;
  }

  /** True while a request holds a slot. */
  get busy(): boolean {
    return this.#requests.total > 0;
  }

  /** True once the server has begun to stop. */
  get draining(): boolean {
    return this.#draining;
  }

  /** Registers a socket, to be closed when the server stops. */
  add(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      this.#onChange();
    });
  }

  /** Returns a `Refusal` if a caller cannot start a conversation now. */
  refusalFor(caller: Caller): Refusal | undefined {
    if (this.#draining) return draining;
    const { maxSessions, maxSessionsPerAddress } = this.#limits;
    if (this.#places.size >= maxSessions) return busy('The server has reached its session limit.');
    const count = (key: keyof Caller): number =>
      [...this.#places].filter((place) => place.caller?.[key] === caller[key]).length;
    if (caller.owner !== undefined && count('owner') >= this.#sessionsPerKey)
      return tooMany('key', this.#sessionsPerKey);
    if (count('address') >= maxSessionsPerAddress) return tooMany('address', maxSessionsPerAddress);
    return undefined;
  }

  /** Takes a slot for a conversation. `end` is called when the server stops; it must lead to `leave`. */
  enter(caller: Caller | undefined, end: () => void): SessionSlot {
    const held: Held = { caller, end, replies: 0 };
    this.#opened += 1;
    this.#places.add(held);
    return {
      // Counts the replies in progress, so that a draining server can wait for them.
      note: ({ type }) => {
        if (type === 'reply-started') held.replies += 1;
        if (type !== 'reply-ended') return;
        held.replies -= 1;
        // Messages to the client about the end are sent first.
        queueMicrotask(() => this.#onChange());
      },
      leave: () => {
        this.#places.delete(held);
        this.#onChange();
      },
    };
  }

  /** Takes a slot for a request. Returns its release function, or a `Refusal` if there is none. */
  begin({ owner }: Pick<Caller, 'owner'>): (() => void) | Refusal {
    if (this.#draining) return draining;
    const release = this.#requests.take(owner);
    if (release === 'total')
      return busy(`The server has reached its limit of ${this.#limits.maxRequests} concurrent requests.`);
    if (release === 'key') return tooManyRequests;
    return () => {
      release();
      this.#onChange();
    };
  }

  /**
   * Refuses new conversations and requests, lets running replies and requests finish for `graceMs`, then ends the rest.
   * `noticeMs`: time before the first of them ends, in which a load balancer learns that this node accepts no sessions.
   * `apartMs`: time between two conversations that end, so that the nodes that continue them are not flooded.
   */
  async drain(graceMs: number, { noticeMs = 0, apartMs = 0 }: DrainPace = {}): Promise<void> {
    const isFirst = !this.#draining;
    this.#draining = true;
    if (isFirst && noticeMs > 0 && this.#places.size > 0)
      await new Promise<void>((resolve) => void this.#clock.after(noticeMs, resolve));
    await this.#endIdle(graceMs, apartMs);
    for (const place of this.#places) place.end();
    // A conversation that ends informs its client and closes its own socket.
    await this.#until(() => this.#places.size === 0, closeTimeoutMs);
    for (const socket of this.#sockets) socket.close(goingAway, 'server_stopping');
    await this.#until(() => this.#sockets.size === 0, closeTimeoutMs);
    for (const socket of this.#sockets) socket.terminate();
  }

  /** Ends each conversation once no reply is sounding in it, until none is left, nor a request; or for `graceMs`. */
  async #endIdle(graceMs: number, apartMs: number): Promise<void> {
    const endMs = this.#clock.now() + graceMs;
    const nextIdle = (): Held | undefined =>
      [...this.#places].find(({ replies, isEnding }) => replies === 0 && isEnding === undefined);
    const isOver = (): boolean => this.#places.size === 0 && !this.busy;
    do {
      const idle = nextIdle();
      if (idle === undefined) {
        const leftMs = Math.max(0, endMs - this.#clock.now());
        await this.#until(() => isOver() || nextIdle() !== undefined, leftMs);
      } else {
        idle.isEnding = true;
        idle.end();
        if (apartMs > 0) await new Promise<void>((resolve) => void this.#clock.after(apartMs, resolve));
      }
    } while (nextIdle() !== undefined || (!isOver() && this.#clock.now() < endMs));
  }

  async #until(condition: () => boolean, mostMs: number): Promise<void> {
    if (condition()) return;
    await new Promise<void>((resolve) => {
      const waitOn = this.#clock.after(mostMs, resolve);
      this.#onChange = () => {
        if (!condition()) return;
        waitOn();
        resolve();
      };
    });
    this.#onChange = () => undefined;
  }
}

const draining: Refusal = {
  status: 503,
  problem: { code: 'server_draining', message: 'The server is shutting down. Connect again in a moment.' },
  retryAfterSeconds: 5,
};

function busy(what: string): Refusal {
  return { status: 503, problem: { code: 'server_busy', message: `${what} Try again later.` }, retryAfterSeconds: 5 };
}

const tooManyRequests: Refusal = {
  status: 429,
  problem: {
    code: 'too_many_requests',
    message: 'This key has reached its limit of concurrent requests. Wait until one has finished.',
  },
  retryAfterSeconds: 5,
};

/** The refusal of an account or address that has as many sessions as it may. */
export function tooMany(whose: 'key' | 'address', most: number): Refusal {
  const message = `This ${whose} has reached its limit of ${most} sessions. Close one first.`;
  return { status: 429, problem: { code: 'too_many_sessions', message }, retryAfterSeconds: 30 };
}
