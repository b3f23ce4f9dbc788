import type { EngineServer, Message, SeenRequest } from './engine-server.ts';
import type { Fault } from './faults.ts';

/** Records the calls to an in-test server of any protocol, and decides which answers fail. */
export class CallCount implements Omit<EngineServer, 'url' | typeof Symbol.asyncDispose> {
  readonly requests: SeenRequest[] = [];
  lastSocketMessages: readonly Message[] = [];
  connections = 0;
  mostAtOnce = 0;
  open = 0;
  abandoned = 0;
  abandonedAtMs: number | undefined;
  /** The fault to inject, and the number of answers that it still affects. */
  breakage: { readonly fault: Fault; readonly route: string | undefined; times: number } | undefined;
  readonly #onBreak: (fault: Fault) => void;

  /** `onBreak` is called with each new fault, for faults that affect connections. */
  constructor(onBreak: (fault: Fault) => void = () => undefined) {
    this.#onBreak = onBreak;
  }

  /** Counts a call. Returns the function that ends it. */
  begin(): (isComplete: boolean) => void {
    this.open += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.open);
    return (isComplete) => {
      this.open -= 1;
      if (isComplete) return;
      this.abandoned += 1;
      this.abandonedAtMs = performance.now();
    };
  }

  /** Fault for the next answer of a route, if any. */
  faultFor(route: string): Fault | undefined {
    const { breakage } = this;
    if (breakage === undefined || breakage.times <= 0) return undefined;
    if (breakage.route !== undefined && breakage.route !== route) return undefined;
    breakage.times -= 1;
    return breakage.fault;
  }

  breaks(fault: Fault, options: { readonly times?: number | undefined; readonly route?: string } = {}): void {
    this.breakage = { fault, route: options.route, times: options.times ?? Infinity };
    this.#onBreak(fault);
  }

  mends(): void {
    this.breakage = undefined;
  }
}
