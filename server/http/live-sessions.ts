import type { Config } from '../config/config.ts';
import { systemClock, type Clock } from '../session/contract/clock.ts';
import type { Refusal } from './problem.ts';

/** On whose account a conversation is held, and from where: what the limits count by. */
export interface Visitor {
  /** Undefined where the server wants no keys: then nobody is told from anybody. */
  readonly owner: string | undefined;
  readonly address: string;
}

/** What a conversation holds of the server's capacity, until it leaves. */
export interface Place {
  /** Takes note of an event on its way to the client: a stopping server waits for replies. */
  note(eventType: string): void;
  leave(): void;
}

/** A connection that can be let go, and cut where it does not go. */
interface Socket {
  close(code: number, reason: string): void;
  terminate(): void;
  once(event: 'close', listener: () => void): unknown;
}

interface Held {
  readonly visitor: Visitor | undefined;
  /** Ends the conversation, telling the client that the server stops. */
  readonly end: () => void;
  replies: number;
}

type Limits = Pick<Config, 'maxSessions' | 'maxSessionsPerKey' | 'maxSessionsPerAddress' | 'maxRequests'>;

/** RFC 6455 §7.4.1: the server goes away. */
const goingAway = 1001;
/** How long a client may take to answer a close frame. */
const closeTimeoutMs = 2_000;

/** The conversations and requests under way: counts them, refuses what is too much, and brings them to an end. */
export class LiveSessions {
  readonly #limits: Limits;
  readonly #clock: Clock;
  readonly #sockets = new Set<Socket>();
  readonly #places = new Set<Held>();
  #requests = 0;
  #opened = 0;
  #draining = false;
  #onChange: () => void = () => undefined;

  constructor(limits: Limits, clock: Clock = systemClock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  get active(): number {
    return this.#places.size;
  }

  get opened(): number {
    return this.#opened;
  }

  /** True while a request has a place. */
  get busy(): boolean {
    return this.#requests > 0;
  }

  /** True once the server has been told to stop. */
  get draining(): boolean {
    return this.#draining;
  }

  /** Takes charge of a socket: it is closed when the server stops. */
  add(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      this.#onChange();
    });
  }

  /** Why a visitor cannot begin a conversation now. */
  refusalFor(visitor: Visitor): Refusal | undefined {
    if (this.#draining) return draining;
    const { maxSessions, maxSessionsPerKey, maxSessionsPerAddress } = this.#limits;
    if (this.#places.size >= maxSessions) return busy('All sessions are taken.');
    const count = (key: keyof Visitor): number =>
      [...this.#places].filter((place) => place.visitor?.[key] === visitor[key]).length;
    if (visitor.owner !== undefined && count('owner') >= maxSessionsPerKey) return tooMany('key', maxSessionsPerKey);
    if (count('address') >= maxSessionsPerAddress) return tooMany('address', maxSessionsPerAddress);
    return undefined;
  }

  /** Gives a conversation its place. `end` is called when the server stops, and leads to `leave`. */
  enter(visitor: Visitor | undefined, end: () => void): Place {
    const held: Held = { visitor, end, replies: 0 };
    this.#opened += 1;
    this.#places.add(held);
    return {
      note: (eventType) => {
        if (eventType === 'response.created') held.replies += 1;
        if (eventType !== 'response.done') return;
        held.replies -= 1;
        // The client is told first of what follows a reply.
        if (this.#draining && held.replies === 0) queueMicrotask(end);
      },
      leave: () => {
        this.#places.delete(held);
        this.#onChange();
      },
    };
  }

  /** Gives a request its place, and returns what gives it back; or says why there is none. */
  begin(): (() => void) | Refusal {
    if (this.#draining) return draining;
    if (this.#requests >= this.#limits.maxRequests) return busy(`${this.#requests} requests are being served.`);
    this.#requests += 1;
    let begun = true;
    return () => {
      if (begun) this.#requests -= 1;
      begun = false;
      this.#onChange();
    };
  }

  /** Takes nobody in any more; lets replies and requests under way finish for `graceMs`; then lets everybody go. */
  async drain(graceMs: number): Promise<void> {
    this.#draining = true;
    for (const place of this.#places) if (place.replies === 0) place.end();
    await this.#until(() => this.#places.size === 0 && this.#requests === 0, graceMs);
    for (const place of this.#places) place.end();
    // A conversation that ends tells its client of it, and closes its own socket.
    await this.#until(() => this.#places.size === 0, closeTimeoutMs);
    for (const socket of this.#sockets) socket.close(goingAway, 'server_stopping');
    await this.#until(() => this.#sockets.size === 0, closeTimeoutMs);
    for (const socket of this.#sockets) socket.terminate();
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
  problem: { code: 'server_draining', message: 'The server is about to stop. Connect again in a moment.' },
  retryAfterSeconds: 5,
};

function busy(what: string): Refusal {
  return { status: 503, problem: { code: 'server_busy', message: `${what} Try again later.` }, retryAfterSeconds: 5 };
}

function tooMany(whose: 'key' | 'address', most: number): Refusal {
  const message = `This ${whose} holds ${most} sessions, which is all it may. Close one first.`;
  return { status: 429, problem: { code: 'too_many_sessions', message }, retryAfterSeconds: 30 };
}
