import type { CallOptions } from '../engine.ts';

/** Places at an engine that takes only so many calls at a time. */
export interface Limiter {
  readonly most: number;
  readonly running: number;
  readonly waiting: number;
  /**
   * Waits for a place; call what it resolves to, once, to give the place back. `owner` is whoever makes several calls, such
   * as one reply: places go round among owners, so that who asks for much keeps nobody waiting. Aborting throws
   * `signal.reason` and gives up the wait. With `giveWay` it gets in once nobody else is in, and is told as soon as somebody comes.
   */
  enter(
    options: CallOptions & { readonly owner?: object; readonly giveWay?: (() => void) | undefined },
  ): Promise<() => void>;
}

/** The reason of a call in the background that was cut because somebody waited for another. */
export class GaveWay extends Error {
  override readonly name = 'GaveWay';
}

interface Waiter {
  readonly owner: object;
  readonly isPatient: boolean;
  readonly admit: () => void;
}

/** Opens `most` places, at least 1. */
export function openLimiter(most: number): Limiter {
  const waiters: Waiter[] = [];
  /** The turn in which an owner last got a place; absent: never. */
  const lastTurn = new WeakMap<object, number>();
  let turn = 0;
  let running = 0;
  const givingWay = new Set<() => void>();

  const admit = (owner: object, giveWay?: () => void): (() => void) => {
    running += 1;
    if (giveWay !== undefined) givingWay.add(giveWay);
    turn += 1;
    lastTurn.set(owner, turn);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      running -= 1;
      if (giveWay !== undefined) givingWay.delete(giveWay);
      const urgent = waiters.filter(({ isPatient }) => !isPatient);
      const next = nextOf(urgent, lastTurn) ?? (running === 0 ? waiters[0] : undefined);
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
    enter({ signal, owner = {}, giveWay }) {
      return new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason as Error);
        const isPatient = giveWay !== undefined;
        if (!isPatient) for (const tell of givingWay) tell();
        if (running < (isPatient ? 1 : most)) return resolve(admit(owner, giveWay));
        const onAbort = (): void => {
          waiters.splice(waiters.indexOf(waiter), 1);
          reject(signal.reason as Error);
        };
        const waiter: Waiter = {
          owner,
          isPatient,
          admit() {
            signal.removeEventListener('abort', onAbort);
            resolve(admit(owner, giveWay));
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
