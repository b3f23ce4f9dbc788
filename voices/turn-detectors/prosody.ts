import type { TurnDetector } from '../turn-detector.ts';
import { logistic, probabilityOf, textLogit, type CueWeights } from './completeness.ts';
import { prosodyCues } from './prosody-cues.ts';

/**
 * Weights of the cues of the voice, from `npm run bench -- endpointing --fit`: a ridge regression on 11 ends, 13 pauses and
 * 117 cuts in 11 recordings, where ends weigh as much as the rest. They point where phonetics says, but in recordings they
 * have not seen tell ends from pauses hardly better than chance (area under the curve 0.59), so they are kept small: the
 * words decide, the voice tips the balance.
 */
const weights: CueWeights = { bias: -0.48, height: -0.31, rise: 0.17, lengthening: 0.39, duration: 0.43 };

/**
 * The built-in detector, with nothing to download: how the voice came to its pause (pitch, drawn-out end, length) and
 * whether the transcript so far looks finished, as the sum of two logits. Without `text`, or in a language whose words it
 * does not know (it knows English and Chinese), the answer stays between 0.2 and 0.75, which means: wait. Takes a few
 * milliseconds in the caller's thread, most of it pitch.
 */
export function openProsody(): TurnDetector {
  return {
    name: 'prosody',
    async completeness(turn, { signal, text, language }) {
      signal.throwIfAborted();
      return probabilityOf(prosodyLogit(turn) + (text === undefined ? 0 : textLogit(text, language)));
    },
  };
}

/** What the voice alone says, as the logarithm of the odds; 0 where there is too little of it. */
function prosodyLogit(turn: Parameters<TurnDetector['completeness']>[0]): number {
  const cues = prosodyCues(turn);
  return cues === undefined ? 0 : logistic({ ...cues }, weights);
}
