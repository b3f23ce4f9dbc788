import type { Config } from '../config/config.ts';
import { limits } from '../protocol/limits.ts';
import type { InputRateLimit, RateLimitVerdict } from '../realtime/peer.ts';

/**
 * Rate limiter with bursts. A request of any size passes while one whole token is left, so that one big piece gets
 * through; the resulting debt delays the next ones.
 */
export class TokenBucket {
  readonly #capacity: number;
  readonly #perMs: number;
  readonly #now: () => number;
  #tokens: number;
  #atMs: number;

  /** `now` returns monotonic milliseconds. */
  constructor(options: { readonly burst: number; readonly perSecond: number; readonly now: () => number }) {
    this.#capacity = options.burst;
    this.#perMs = options.perSecond / 1000;
    this.#now = options.now;
    this.#tokens = options.burst;
    this.#atMs = options.now();
  }

  /** Takes `amount` if a token is left; otherwise takes nothing and returns false. */
  take(amount = 1): boolean {
    this.#refill();
    if (this.#tokens < Math.min(1, amount)) return false;
    this.#tokens -= amount;
    return true;
  }

  /** True if the bucket is full. It can be dropped then, because a new one starts full. */
  get full(): boolean {
    this.#refill();
    return this.#tokens >= this.#capacity;
  }

  /** Milliseconds until a token is available. */
  get waitMs(): number {
    this.#refill();
    return Math.max(0, (1 - this.#tokens) / this.#perMs);
  }

  #refill(): void {
    const now = this.#now();
    this.#tokens = Math.min(this.#capacity, this.#tokens + (now - this.#atMs) * this.#perMs);
    this.#atMs = now;
  }
}

/** Bursts: events of ten seconds at the limit, and ten minutes of audio (a recording sent at once). */
const burstSeconds = 10;

const burstAudioMs = 600_000;

/** A client that exceeds a limit gets one error in this time, not one for each dropped event. */
const tellEveryMs = 1_000;

/** Rate limits for one connection. Excess events and audio are dropped; the session survives. */
export function createInputRateLimit(
  config: Pick<Config, 'maxEventsPerSecond' | 'maxAudioRate'>,
  now: () => number = () => performance.now(),
): InputRateLimit {
  const { maxEventsPerSecond, maxAudioRate } = config;
  const events = new TokenBucket({ burst: maxEventsPerSecond * burstSeconds, perSecond: maxEventsPerSecond, now });
  const audioMs = new TokenBucket({ burst: burstAudioMs, perSecond: maxAudioRate * 1000, now });
  const textBytes = new TokenBucket({ burst: limits.eventBurstBytes, perSecond: limits.eventBytesPerSecond, now });
  let toldMs = -Infinity;
  const verdict = (fits: boolean, message: string): RateLimitVerdict => {
    if (fits) return 'take';
    if (now() - toldMs < tellEveryMs) return 'drop';
    toldMs = now();
    return { code: 'rate_limit_exceeded', message };
  };
  return {
    takeEvent: () =>
      verdict(
        events.take(),
        `More than ${maxEventsPerSecond} events per second: events are dropped. Send fewer, larger ones.`,
      ),
    takeText: (bytes) =>
      verdict(
        textBytes.take(bytes),
        `More than ${limits.eventBytesPerSecond / 1024} KiB of events per second, audio not counted: events are dropped.`,
      ),
    takeAudio: (ms) =>
      verdict(
        audioMs.take(ms),
        `More audio than ${maxAudioRate} times real time: audio is dropped. Send it at real-time speed.`,
      ),
  };
}
