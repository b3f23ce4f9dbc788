import { applyGain } from '../dsp/loudness.ts';
import { resample } from '../dsp/resampler.ts';
import type { MouthMovement, TimedPhone, TimedWord } from '../synthesizer.ts';
import { pauseAfterMs, trimSilence } from '../dsp/trim-silence.ts';
import { visemesOf } from '../visemes/visemes-of-phones.ts';
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
  readonly mouth?: MouthMovement;
}

/** Silence kept before the first audible sample. */
const leadMs = 25;

/**
 * Finishes raw speech for playback: converts it to the wanted rate and loudness, removes leading silence, adds a pause
 * at the end that suits the last punctuation mark (shorter if `rate`, the tempo as a factor, is above 1), and computes
 * the times of every word, and of every shape of the mouth if the engine reports its phones.
 */
export function finishSpeech(
  raw: RawSpeech,
  wanted: { sampleRate: number; gain: number; rate: number },
): RenderedSpeech {
  const resampled = resample(raw.samples, raw.sampleRate, wanted.sampleRate);
  const tailMs = pauseAfterMs(raw.text) / wanted.rate;
  const { samples, cutMs, endMs } = trimSilence(resampled, wanted.sampleRate, { leadMs, tailMs });
  const speech = { startMs: Math.min(leadMs, endMs), endMs };
  const { marks, pauses, phones } = raw.hints;
  const hints: TimingHints = {
    ...(marks && { marks: marks.map(({ index, atMs }) => ({ index, atMs: Math.max(speech.startMs, atMs - cutMs) })) }),
    ...(pauses && {
      pauses: pauses
        .map((pause) => ({ startMs: pause.startMs - cutMs, endMs: pause.endMs - cutMs }))
        .filter((pause) => pause.startMs > speech.startMs && pause.endMs < endMs),
    }),
  };
  const mouth = phones === undefined || samples.length === 0 ? undefined : mouthOf(phones, { cutMs, endMs });
  const timed = wordTimes(raw.text, speech, hints);
  const words = mouth === undefined ? timed : endedAtPauses(timed, mouth.phones);
  return { samples: applyGain(samples, wanted.gain), words, ...(mouth !== undefined && { mouth }) };
}

/** Marks of words come late: the sounds of the next word may begin this much before its mark. */
const lateMarkMs = 40;

/** Marks say where words begin, and phones where pauses do: a word before a pause ends with its last sound. */
function endedAtPauses(words: readonly TimedWord[], phones: readonly TimedPhone[]): TimedWord[] {
  return words.map((word) => {
    const last = phones.findLastIndex(({ sound, startMs }) => sound !== '' && startMs < word.endMs - lateMarkMs);
    const after = phones[last + 1];
    const isPause = after?.sound === '' && after.startMs > word.startMs && after.startMs < word.endMs;
    return isPause ? { ...word, endMs: after.startMs } : word;
  });
}

/** Returns the mouth movement after the silence at both ends has been cut; it closes with the last sound. */
function mouthOf(told: readonly TimedPhone[], { cutMs, endMs }: { cutMs: number; endMs: number }): MouthMovement {
  const within = (ms: number): number => Math.min(Math.max(ms - cutMs, 0), endMs);
  const phones = told
    .map(({ sound, startMs, endMs: phoneEndMs }) => ({ sound, startMs: within(startMs), endMs: within(phoneEndMs) }))
    .filter((phone) => phone.endMs > phone.startMs);
  const firstMs = phones[0]?.startMs ?? 0;
  if (firstMs > 0) phones.unshift({ sound: '', startMs: 0, endMs: firstMs });
  const last = phones.at(-1);
  // Below the threshold of the trimming, the last sound still sounds; after it the mouth is at rest.
  if (last?.sound !== '')
    phones.push({ sound: '', startMs: last?.endMs ?? 0, endMs: Math.max(endMs, (last?.endMs ?? 0) + 1) });
  return { basis: 'engine', visemes: visemesOf(phones), phones };
}
