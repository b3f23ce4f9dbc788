import type { SpeechSynthesizer, TimedWord } from '../../voices/synthesizer.ts';
import { silence } from './vad.ts';
import { untilAborted } from '../../voices/runtime/streams.ts';

/**
 * Speaks at 100 ms per word, with word timings. The audio is a constant, or a tone if `sings` is set, for codecs that
 * drop constants (DC). `spoken` records the phrases; `failOn` makes one of them fail.
 */
export function fakeSynthesizer(
  options: { failOn?: string; error?: Error; sings?: boolean } = {},
): SpeechSynthesizer & {
  readonly spoken: string[];
} {
  const spoken: string[] = [];
  return {
    name: 'fake-synthesizer',
    sampleRate: 24_000,
    languages: ['en', 'zh'],
    isRepeatable: () => true,
    spoken,
    async *speak(phrases, { signal }) {
      let atMs = 0;
      signal.throwIfAborted();
      for await (const { text } of untilAborted(phrases, { signal })) {
        if (!/[\p{L}\p{N}]/u.test(text)) continue;
        if (options.failOn !== undefined && text.includes(options.failOn)) throw options.error;
        spoken.push(text);
        const tokens = text.split(/(?<=\s)/u).filter((token) => token.trim() !== '');
        const words: TimedWord[] = tokens.map((token, index) => ({
          text: token.trim(),
          startMs: index * 100,
          endMs: index * 100 + 100,
        }));
        const durationMs = tokens.length * 100;
        const samples = options.sings === true ? song(durationMs) : pressure(durationMs);
        yield { frame: { samples, sampleRate: 24_000, atMs }, text, words };
        atMs += durationMs;
      }
    },
  };
}

/** Shared, because an engine that costs nothing should leave no garbage either. */
const longPressure = silence(10_000).fill(0.2);

function pressure(ms: number): Float32Array {
  return ms > 10_000 ? silence(ms).fill(0.2) : longPressure.subarray(0, (ms * 24_000) / 1000);
}

/**
 * A tone different from that of test users: audio that sounds like the character and repeats its words counts as echo.
 */
function song(ms: number): Float32Array {
  return Float32Array.from({ length: ms * 24 }, (_, index) => 0.4 * Math.sin(index / 12 + Math.sin(index / 1_500)));
}
