import { wordTimes, type Span } from '../text/word-times.ts';

/** Speech with its transcript. */
export interface SpokenClip {
  readonly samples: Float32Array;
  readonly sampleRate: number;
  readonly transcript: string;
}

const windowMs = 10;
/** Windows this far below the loudest are silence: 30 dB in power. */
const silenceRatio = 1e-3;
/** Shorter silences are stop consonants within words. */
const leastPauseMs = 90;
/** Maximum distance between the estimated end of a word and the pause that follows it. */
const reachMs = 700;
/** Extra distance of a pause without a punctuation mark in the transcript. */
const unmarkedMs = 400;

/**
 * Cuts a clip that is too long in its last pause before `mostSeconds`, and its transcript with it: a clip that says
 * less than its transcript makes engines swallow or repeat words. Word positions are estimated from syllables,
 * punctuation marks and pauses. Returns undefined if there is no pause that seems to lie between two words.
 */
export function shortenClip(clip: SpokenClip, mostSeconds: number): SpokenClip | undefined {
  const { samples, sampleRate, transcript } = clip;
  const { speech, pauses } = soundsOf(samples, sampleRate);
  const words = wordTimes(transcript, speech, { pauses });
  const candidates = pauses.filter(({ startMs }) => startMs + leastPauseMs / 2 <= mostSeconds * 1000).toReversed();
  for (const { startMs, endMs } of candidates) {
    const cutMs = Math.min(mostSeconds * 1000, (startMs + endMs) / 2);
    const kept = samples.subarray(0, Math.floor((cutMs / 1000) * sampleRate));
    if (transcript === '') return { ...clip, samples: kept };
    const distances = words.slice(0, -1).map(({ endMs: saidMs, text }) => {
      return Math.abs(saidMs - startMs) + (/[\p{P}]$/u.test(text) ? 0 : unmarkedMs);
    });
    const nearest = Math.min(...distances);
    if (!(nearest <= reachMs)) continue;
    return { ...clip, samples: kept, transcript: textUpTo(transcript, words, distances.indexOf(nearest)) };
  }
  return undefined;
}

/** Returns the transcript up to a word, that word included. */
function textUpTo(transcript: string, words: readonly { readonly text: string }[], last: number): string {
  let end = 0;
  for (const { text } of words.slice(0, last + 1)) end = transcript.indexOf(text, end) + text.length;
  return transcript.slice(0, end).trim();
}

function soundsOf(
  samples: Float32Array,
  sampleRate: number,
): { readonly speech: Span; readonly pauses: readonly Span[] } {
  const window = Math.max(1, Math.round((windowMs / 1000) * sampleRate));
  const powers: number[] = [];
  for (let start = 0; start < samples.length; start += window) {
    const block = samples.subarray(start, start + window);
    powers.push(block.reduce((sum, value) => sum + value * value, 0) / block.length);
  }
  const threshold = powers.reduce((most, power) => Math.max(most, power), 0) * silenceRatio;
  const first = powers.findIndex((power) => power > threshold);
  const last = powers.findLastIndex((power) => power > threshold);
  const pauses: Span[] = [];
  for (let start = first; start <= last; start += 1) {
    let end = start;
    while (end <= last && (powers[end] as number) <= threshold) end += 1;
    if ((end - start) * windowMs >= leastPauseMs) pauses.push({ startMs: start * windowMs, endMs: end * windowMs });
    start = Math.max(start, end - 1);
  }
  return { speech: { startMs: Math.max(0, first) * windowMs, endMs: (last + 1) * windowMs }, pauses };
}
