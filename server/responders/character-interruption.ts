import { durationMs } from '../../voices/audio.ts';
import type { MouthMovement, SpeechChunk, TimedWord } from '../../voices/synthesizer.ts';
import type { SpokenPart } from '../session/contract/responder.ts';

/** A turn is not cut if this few words are left, nor before this much of a phrase has been said. */
const wordsLeft = 2;
const leastOfPhraseMs = 300;
/** The audio is faded out over this long, to avoid a click. */
const fadeMs = 10;

/**
 * Yields the parts of a turn until another character interrupts: after the present word, and with a dash. `mayHoldMs`:
 * how much audio the turn may have; speech without word timings is not cut.
 */
export async function* untilBreakIn(
  parts: AsyncIterable<SpokenPart>,
  mayHoldMs: (said: string) => number,
): AsyncIterable<SpokenPart> {
  let said = '';
  let saidMs = 0;
  for await (const part of parts) {
    if (part.type !== 'speech') {
      yield part;
      continue;
    }
    const { chunk } = part;
    const cut = cutAfter(chunk, mayHoldMs(said + chunk.text) - saidMs);
    // Cutting words may change the addressee; check again on the shortened text.
    if (cut !== undefined && mayHoldMs(said + cut.text) <= saidMs + durationMs(cut.frame)) {
      yield { ...part, chunk: cut };
      return;
    }
    said += chunk.text;
    saidMs += durationMs(chunk.frame);
    yield part;
  }
}

/** Cuts the chunk after the word that is said at `ms`; undefined if it need not or cannot be cut there. */
function cutAfter(chunk: SpeechChunk, ms: number): SpeechChunk | undefined {
  const { frame, words = [], mouth } = chunk;
  if (ms >= durationMs(frame)) return undefined;
  const fromMs = Math.max(ms, leastOfPhraseMs);
  const index = words.findIndex(({ text, endMs }) => endMs >= fromMs && !endsSentence(text));
  const last = words[index];
  if (last === undefined || index >= words.length - wordsLeft) return undefined;
  const samples = frame.samples.slice(0, Math.round((last.endMs / 1000) * frame.sampleRate));
  fadeOut(samples, Math.round((fadeMs / 1000) * frame.sampleRate));
  const kept = words.slice(0, index + 1);
  const text = brokenOff(chunk.text, kept);
  return { frame: { ...frame, samples }, text, words: kept, ...(mouth && { mouth: mouthUntil(mouth, last.endMs) }) };
}

function mouthUntil(mouth: MouthMovement, endMs: number): MouthMovement {
  const visemes = mouth.visemes.filter(({ startMs }) => startMs < endMs);
  return { ...mouth, visemes, phones: mouth.phones.filter(({ startMs }) => startMs < endMs) };
}

function endsSentence(word: string): boolean {
  return /[.!?。！？…]["”’」』)]*\s*$/u.test(word);
}

/** Returns the text up to the last of its words, with a dash. */
function brokenOff(text: string, words: readonly TimedWord[]): string {
  let end = 0;
  for (const word of words) {
    const at = text.indexOf(word.text.trim(), end);
    if (at >= 0) end = at + word.text.trim().length;
  }
  return `${text.slice(0, end).replace(/[\p{P}\s]+$/u, '')}—`;
}

function fadeOut(samples: Float32Array, count: number): void {
  const from = Math.max(0, samples.length - count);
  for (let index = from; index < samples.length; index += 1)
    samples[index] = (samples[index] ?? 0) * ((samples.length - index) / count);
}
