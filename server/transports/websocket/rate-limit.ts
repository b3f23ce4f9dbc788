import type { Config } from '../../config/config.ts';
import type { Inflow, Verdict } from '../../realtime/connection.ts';
import { TokenBucket } from '../../http/token-bucket.ts';

/** How much may come at once: events for ten seconds' worth, and audio of ten minutes (a recording sent in one go). */
const burstSeconds = 10;
const burstAudioMs = 600_000;
/** A client that floods is told so once in this time, and dropped events are not answered one by one. */
const tellEveryMs = 1_000;

/** Bounds what one connection may send; what is over is dropped, and the session lives on. */
export function openInflow(
  config: Pick<Config, 'maxEventsPerSecond' | 'maxAudioRate'>,
  now: () => number = () => performance.now(),
): Inflow {
  const { maxEventsPerSecond, maxAudioRate } = config;
  const events = new TokenBucket({ burst: maxEventsPerSecond * burstSeconds, perSecond: maxEventsPerSecond, now });
  const audioMs = new TokenBucket({ burst: burstAudioMs, perSecond: maxAudioRate * 1000, now });
  let toldMs = -Infinity;
  const verdict = (fits: boolean, message: string): Verdict => {
    if (fits) return 'take';
    if (now() - toldMs < tellEveryMs) return 'drop';
    toldMs = now();
    return { code: 'rate_limit_exceeded', message };
  };
  return {
    takeEvent: () =>
      verdict(
        events.take(),
        `More than ${maxEventsPerSecond} events a second: events are dropped. Send fewer, larger ones.`,
      ),
    takeAudio: (ms) =>
      verdict(
        audioMs.take(ms),
        `More audio than ${maxAudioRate} times real time: audio is dropped. Send it at the pace of speech.`,
      ),
  };
}
