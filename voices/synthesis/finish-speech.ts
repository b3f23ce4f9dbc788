import { applyGain } from '../dsp/loudness.ts';
import { resample } from '../dsp/resampler.ts';
import type { TimedWord } from '../synthesizer.ts';
import { pauseAfterMs, trimSilence } from '../dsp/trim-silence.ts';
import { wordTimes, type TimingHints } from '../text/word-times.ts';

/** Raw output of an engine for `text`; the times in `hints` count from the first sample. Rates in hertz. */
export interface RawSpeech {
  readonly text: string;
  readonly samples: Float32Array;
  /** Integer; a rate other than the engine's own shifts the timbre. */
  readonly sampleRate: number;
  readonly hints: TimingHints;
}

/** Finished chunk as it leaves the worker; `words` is empty if it has no speech. */
export interface RenderedSpeech {
  readonly samples: Float32Array<ArrayBuffer>;
  readonly words: readonly TimedWord[];
}

/** Silence kept before the first audible sample. */
const leadMs = 25;

/**
 * Finishes raw speech for playback: converts it to the wanted rate and loudness, removes leading silence, adds a pause
 * at the end that suits the last punctuation mark (shorter if `rate`, the tempo as a factor, is above 1), and computes
 * the time of every word.
 */
export function finishSpeech(
  raw: RawSpeech,
  wanted: { sampleRate: number; gain: number; rate: number },
): RenderedSpeech {
  const resampled = resample(raw.samples, raw.sampleRate, wanted.sampleRate);
  const tailMs = pauseAfterMs(raw.text) / wanted.rate;
  const { samples, cutMs, endMs } = trimSilence(resampled, wanted.sampleRate, { leadMs, tailMs });
  const speech = { startMs: Math.min(leadMs, endMs), endMs };
  const { marks, pauses } = raw.hints;
  const hints: TimingHints = {
    ...(marks && { marks: marks.map(({ index, atMs }) => ({ index, atMs: Math.max(speech.startMs, atMs - cutMs) })) }),
    ...(pauses && {
      pauses: pauses
        .map((pause) => ({ startMs: pause.startMs - cutMs, endMs: pause.endMs - cutMs }))
        .filter((pause) => pause.startMs > speech.startMs && pause.endMs < endMs),
    }),
  };
  return { samples: applyGain(samples, wanted.gain), words: wordTimes(raw.text, speech, hints) };
}
