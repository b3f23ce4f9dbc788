import { durationMs } from '../../voices/audio.ts';
import type { SpeechChunk, TimedWord } from '../../voices/synthesizer.ts';
import type { SpokenPart } from './responder.ts';

/** A turn is not cut where so few words are left, nor before so much of a phrase has been said. */
const wordsLeft = 2;
const leastOfPhraseMs = 300;
/** Sound is faded out over this long, lest it clicks. */
const fadeMs = 10;

/**
 * The parts of a turn until somebody breaks in: then it ends after the word that is being said, and its text with a dash.
 * `mayHoldMs` tells for what has been said so far how much sound the turn may have; what has no word times is not cut.
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
    // Whom the words speak to may be another without those that are cut.
    if (cut !== undefined && mayHoldMs(said + cut.text) <= saidMs + durationMs(cut.frame)) {
      yield { ...part, chunk: cut };
      return;
    }
    said += chunk.text;
    saidMs += durationMs(chunk.frame);
    yield part;
  }
}

/** The chunk up to the end of the word that is said at `ms`; undefined where it need not, or cannot be cut there. */
function cutAfter(chunk: SpeechChunk, ms: number): SpeechChunk | undefined {
  const { frame, words = [] } = chunk;
  if (ms >= durationMs(frame)) return undefined;
  const fromMs = Math.max(ms, leastOfPhraseMs);
  const index = words.findIndex(({ text, endMs }) => endMs >= fromMs && !endsSentence(text));
  const last = words[index];
  if (last === undefined || index >= words.length - wordsLeft) return undefined;
  const samples = frame.samples.slice(0, Math.round((last.endMs / 1000) * frame.sampleRate));
  fadeOut(samples, Math.round((fadeMs / 1000) * frame.sampleRate));
  const kept = words.slice(0, index + 1);
  return { frame: { ...frame, samples }, text: brokenOff(chunk.text, kept), words: kept };
}

function endsSentence(word: string): boolean {
  return /[.!?。！？…]["”’」』)]*\s*$/u.test(word);
}

/** The text up to the last of its words, with a dash. */
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
