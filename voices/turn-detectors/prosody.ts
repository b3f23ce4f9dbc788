import type { TurnDetector } from '../turn-detector.ts';
import { logistic, probabilityOf, textLogit, type CueWeights } from './completeness.ts';
import { prosodyCues } from './prosody-cues.ts';

/**
 * Weights of the prosodic cues (see `test/bench/MEASURED.md`): a ridge regression on 11 ends, 13 pauses and 117 cuts in
 * 11 recordings, where ends weigh as much as the rest. Their signs agree with phonetics, but on unseen
 * recordings they separate ends from pauses hardly better than chance (area under the curve 0.59), so they are kept
 * small: the words decide, the voice tips the balance.
 */
const weights: CueWeights = { bias: -0.48, height: -0.31, rise: 0.17, lengthening: 0.39, duration: 0.43 };

/**
 * Opens the built-in turn detector, with nothing to download: prosody before the pause (pitch, final lengthening,
 * duration) and completeness of the transcript so far, as the sum of two logits. Without `text`, or in a language other
 * than English and Chinese, the probability stays between 0.2 and 0.75, which means: wait. Takes a few milliseconds in
 * the caller's thread, most of it for pitch.
 */
export function openProsody(): TurnDetector {
  return {
    name: 'prosody',
    async endOfTurnProbability(turn, { signal, text, language }) {
      signal.throwIfAborted();
      return probabilityOf(prosodyLogit(turn) + (text === undefined ? 0 : textLogit(text, language)));
    },
  };
}

/** Returns the logit of the voice alone; 0 if there is too little speech. */
function prosodyLogit(turn: Parameters<TurnDetector['endOfTurnProbability']>[0]): number {
  const cues = prosodyCues(turn);
  return cues === undefined ? 0 : logistic({ ...cues }, weights);
}
