import type { CallOptions } from '../engine.ts';

/** Limits the concurrent calls to an engine. */
export interface Limiter {
  readonly most: number;
  readonly running: number;
  readonly waiting: number;
  /**
   * Waits for a place; call the returned function once to free it. `owner` identifies a caller that makes several
   * calls, e.g. one reply: places are shared round-robin among owners, so that one with many calls does not delay the
   * others. Aborting throws `signal.reason` and ends the wait. With `giveWay`, the call is in the background: it enters
   * once no other call is running, and `giveWay` is called as soon as a foreground call arrives.
   */
  enter(
    options: CallOptions & { readonly owner?: object; readonly giveWay?: (() => void) | undefined },
  ): Promise<() => void>;
}

/** Reason of a background call that was cut off in favour of a foreground call. */
export class Preempted extends Error {
  override readonly name = 'GaveWay';
}

interface Waiter {
  readonly owner: object;
  readonly isPatient: boolean;
  readonly admit: () => void;
}

/** Opens a limiter with `most` places, at least 1. */
export function openLimiter(most: number): Limiter {
  const waiters: Waiter[] = [];
  /** Turn in which an owner last got a place; absent: never. */
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

/** Returns the waiter whose owner was served longest ago; ties go to the first that came. */
function nextOf(waiters: readonly Waiter[], lastTurn: WeakMap<object, number>): Waiter | undefined {
  let next: Waiter | undefined;
  for (const waiter of waiters) {
    if (next === undefined || (lastTurn.get(waiter.owner) ?? 0) < (lastTurn.get(next.owner) ?? 0)) next = waiter;
  }
  return next;
}
