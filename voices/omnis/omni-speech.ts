import { concatSamples } from '../audio.ts';
import type { OmniPart } from '../omni.ts';
import { Resampler } from '../dsp/resampler.ts';
import type { SpeechChunk } from '../synthesizer.ts';
import { speechUnits } from '../synthesis/estimated-word-timings.ts';
import { wordTimes } from '../text/word-times.ts';

/** Speaking rate of a model so far, in milliseconds per text unit; undefined before it has spoken. */
export interface OmniSpeakingRate {
  msPerUnit: number | undefined;
}

/** Rate of an average voice. */
const usualMsPerUnit = 75;
const sampleRate = 24_000;

/** Words are separated by white space; Chinese and Japanese characters each count as a word. */
const word =
  /\s*(?:[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}][\p{P}]*|[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+)\s*/gu;

/** Converts the output of an omni model into chunks at 24 kHz, each with the words estimated from the speaking rate. */
export async function* speechChunksOf(
  parts: AsyncIterable<OmniPart>,
  pace: OmniSpeakingRate,
): AsyncGenerator<SpeechChunk> {
  let pending = '';
  let told = 0;
  let atMs = 0;
  let held: Float32Array = new Float32Array(0);
  const chunk = (samples: Float32Array, text: string): SpeechChunk => {
    const endMs = (samples.length / sampleRate) * 1000;
    const words = wordTimes(text, { startMs: 0, endMs });
    const frame = { samples, sampleRate, atMs };
    atMs += endMs;
    return { frame, text, ...(words.length > 0 && { words }) };
  };
  /** Words that begin within the next `samples`. */
  const due = (samples: Float32Array): string => {
    const untilMs = atMs + (samples.length / sampleRate) * 1000;
    let text = '';
    for (const [next] of pending.matchAll(word)) {
      // The last word may be incomplete.
      if (told * (pace.msPerUnit ?? usualMsPerUnit) >= untilMs || text.length + next.length === pending.length) break;
      text += next;
      told += speechUnits(next);
    }
    pending = pending.slice(text.length);
    return text;
  };
  for await (const samples of soundIn(parts, (text) => (pending += text))) {
    // One chunk is held back: the last one takes all remaining words.
    if (held.length > 0) yield chunk(held, due(held));
    held = samples;
  }
  if (held.length === 0) return;
  told += speechUnits(pending);
  yield chunk(held, pending);
  if (told > 0) pace.msPerUnit = atMs / told;
}

async function* soundIn(parts: AsyncIterable<OmniPart>, onText: (text: string) => void): AsyncGenerator<Float32Array> {
  let resampler: Resampler | undefined;
  let from = 0;
  for await (const part of parts) {
    if (part.type === 'text-delta') onText(part.text);
    if (part.type !== 'sound') continue;
    const rest = part.sampleRate === from ? undefined : resampler?.flush();
    if (part.sampleRate !== from) resampler = new Resampler(part.sampleRate, sampleRate);
    from = part.sampleRate;
    const samples = concatSamples([rest ?? new Float32Array(0), resampler?.push(part.samples) ?? part.samples]);
    if (samples.length > 0) yield samples;
  }
  const rest = resampler?.flush();
  if (rest !== undefined && rest.length > 0) yield rest;
}
