import { durationMs } from '../../../voices/audio.ts';
import type { SpokenPart } from '../contract/responder.ts';

/** Most speech made before the reply is confirmed: enough to begin with, while the rest is made. */
const mostSpeechMs = 2_000;
/** The same limit for text, in parts. */
const mostParts = 64;

/**
 * Takes the first parts of a reply as they are made, and yields them when the reply is `confirmed`. Throws what `parts`
 * throws, once confirmed, and `signal.reason` when aborted.
 */
export async function* readAhead(
  parts: AsyncIterable<SpokenPart>,
  confirmed: Promise<void>,
  signal: AbortSignal,
): AsyncIterable<SpokenPart> {
  const iterator = parts[Symbol.asyncIterator]();
  const taken: SpokenPart[] = [];
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  aborted.promise.catch(() => undefined);
  const wanted = confirmed.then(() => true);
  const enough = { reached: false };
  void wanted.then(() => (enough.reached = true));
  const taking = (async () => {
    let speechMs = 0;
    while (!enough.reached) {
      const next = await iterator.next();
      if (next.done === true) return 'ended';
      if (next.value.type === 'speech') speechMs += durationMs(next.value.chunk.frame);
      taken.push(next.value);
      if (speechMs >= mostSpeechMs || taken.length >= mostParts) break;
    }
    return 'more';
  })();
  taking.catch(() => undefined);
  try {
    // A speculative reply that fails reports it at once: there is time for another.
    await Promise.race([wanted, aborted.promise, taking.then(() => wanted)]);
    yield* taken.splice(0);
    // The part that is being made when the reply is confirmed comes next.
    const state = await Promise.race([taking, aborted.promise]);
    yield* taken.splice(0);
    if (state === 'ended') return;
    for (;;) {
      const next = await iterator.next();
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    // Not awaited: a source in the middle of its work answers only when that is done.
    void iterator.return?.().catch(() => undefined);
  }
}
