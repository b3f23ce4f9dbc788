import type { Meter } from '../calls/calls.ts';
import { badReply, type Upstream } from '../calls/http-faults.ts';
import { isFormatFault, type PcmBlock } from '../calls/pcm-stream.ts';
import { EngineError } from '../engine.ts';
import { unitsOf } from './estimated-word-timings.ts';

/** Shorter audio counts as no speech: servers that fail after they have sent status 200 send about that much. */
const leastMs = 50;
/**
 * Audio longer than this is not speech but a model that does not stop. Milliseconds for any text, and for each unit of
 * it.
 */
const mostMs = { ever: 15_000, perUnit: 600 };

/**
 * Passes on the audio of one text once there is enough of it. Throws `ENGINE_BAD_REPLY` for what cannot be speech: next
 * to no audio, bytes that are no audio, and audio without end.
 */
export async function* checkedSound(
  blocks: AsyncIterable<PcmBlock>,
  text: string,
  { upstream, meter }: { readonly upstream: Upstream; readonly meter: Meter },
): AsyncGenerator<PcmBlock> {
  const longestMs = mostMs.ever + mostMs.perUnit * unitsOf(text);
  const held: PcmBlock[] = [];
  let ms = 0;
  try {
    for await (const block of blocks) {
      ms += (block.samples.length / block.sampleRate) * 1000;
      meter.audioSeconds = Math.round(ms) / 1000;
      if (ms > longestMs) throw badReply(upstream, `${Math.round(ms / 1000)} s of sound for ${text.length} characters`);
      held.push(block);
      if (ms >= leastMs) yield* held.splice(0);
    }
  } catch (cause) {
    if (isFormatFault(cause)) throw badReply(upstream, 'a WAV that cannot be read');
    throw cause;
  }
  if (ms < leastMs) {
    throw new EngineError(
      upstream.name,
      'ENGINE_BAD_REPLY',
      `the server sent no sound (${Math.round(ms)} ms). Look into its log.`,
    );
  }
}
