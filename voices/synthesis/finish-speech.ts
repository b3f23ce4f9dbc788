import { applyGain } from '../dsp/loudness.ts';
import { resample } from '../dsp/resampler.ts';
import type { TimedWord } from '../synthesizer.ts';
import { pauseAfterMs, trimSilence } from '../dsp/trim-silence.ts';
import { wordTimes, type TimingHints } from '../text/word-times.ts';

/** What an engine made of `text`; the times in `hints` count from the first sample. Rates in hertz. */
export interface RawSpeech {
  readonly text: string;
  readonly samples: Float32Array;
  /** Whole number; playing at another rate than the engine meant shifts the timbre. */
  readonly sampleRate: number;
  readonly hints: TimingHints;
}

/** A chunk as it leaves the worker; no `words` where nothing sounds. */
export interface RenderedSpeech {
  readonly samples: Float32Array<ArrayBuffer>;
  readonly words: readonly TimedWord[];
}

/** Kept before the first sound. */
const leadMs = 25;

/**
 * Raw speech as a listener wants it: at the wanted rate and loudness, without leading silence, with a pause at the end
 * that suits its last mark (shorter when `rate`, the tempo as a factor, is above 1), and with the time of every word.
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
