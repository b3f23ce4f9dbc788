import type { CallOptions } from '../engine.ts';

/** Places at an engine that takes only so many calls at a time. */
export interface Limiter {
  readonly most: number;
  readonly running: number;
  readonly waiting: number;
  /**
   * Waits for a place; call what it resolves to, once, to give the place back. `owner` is whoever makes several calls, such
   * as one reply: places go round among owners, so that who asks for much keeps nobody waiting. Aborting throws
   * `signal.reason` and gives up the wait.
   */
  enter(options: CallOptions & { readonly owner?: object }): Promise<() => void>;
}

interface Waiter {
  readonly owner: object;
  readonly admit: () => void;
}

/** Opens `most` places, at least 1. */
export function openLimiter(most: number): Limiter {
  const waiters: Waiter[] = [];
  /** The turn in which an owner last got a place; absent: never. */
  const lastTurn = new WeakMap<object, number>();
  let turn = 0;
  let running = 0;

  const admit = (owner: object): (() => void) => {
    running += 1;
    turn += 1;
    lastTurn.set(owner, turn);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      running -= 1;
      const next = nextOf(waiters, lastTurn);
      if (next === undefined) return;
      waiters.splice(waiters.indexOf(next), 1);
      next.admit();
    };
  };

  return {
    most,
    get running() {
      return running;
    },
    get waiting() {
      return waiters.length;
    },
    enter({ signal, owner = {} }) {
      return new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason as Error);
        if (running < most) return resolve(admit(owner));
        const onAbort = (): void => {
          waiters.splice(waiters.indexOf(waiter), 1);
          reject(signal.reason as Error);
        };
        const waiter: Waiter = {
          owner,
          admit() {
            signal.removeEventListener('abort', onAbort);
            resolve(admit(owner));
          },
        };
        waiters.push(waiter);
        signal.addEventListener('abort', onAbort, { once: true });
      });
    },
  };
}

/** Whose turn was longest ago; among equals who came first. */
function nextOf(waiters: readonly Waiter[], lastTurn: WeakMap<object, number>): Waiter | undefined {
  let next: Waiter | undefined;
  for (const waiter of waiters) {
    if (next === undefined || (lastTurn.get(waiter.owner) ?? 0) < (lastTurn.get(next.owner) ?? 0)) next = waiter;
  }
  return next;
}
