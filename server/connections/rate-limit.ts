import type { Config } from '../config/config.ts';
import type { InputRateLimit, RateLimitVerdict } from '../realtime/connection.ts';
import { TokenBucket } from '../http/token-bucket.ts';

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
    takeAudio: (ms) =>
      verdict(
        audioMs.take(ms),
        `More audio than ${maxAudioRate} times real time: audio is dropped. Send it at real-time speed.`,
      ),
  };
}
