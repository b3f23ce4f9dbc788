import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { logistic, probabilityOf, textCues } from '../../../voices/turn-detectors/completeness.ts';
import { prosodyCues } from '../../../voices/turn-detectors/prosody-cues.ts';
import type { PauseCase } from './endpointing-cases.ts';
import { areaUnderCurve, fitLogistic, type Example } from './logistic.ts';

const characters = join(import.meta.dirname, '../../../characters');
const ridge = 3;
const prosodyRidge = 5;
/**
 * Frequency with which Moonshine ends a cut sentence with a full stop, a comma, or nothing; and a cut question with a
 * question mark.
 */
const marks = { stop: 0.8, comma: 0.08, question: 0.25 };
/** Cues that are too rare or too different in the packs; `completeness.ts` sets their weights by hand. */
export const setByHand = {
  en: { answer: -0.5, filler: -5, fillerPhrase: -3, waits: -2, possessive: -2, number: -1, counting: -1.5, digits: -1 },
  zh: { answer: 2, filler: -4, waits: -2, conjunction: -4, number: -1 },
} as const;
/** Sign of each prosodic cue according to phonetics. A fit with another sign reflects a property of few recordings. */
const expectedSigns: Readonly<Record<string, number>> = {
  height: -1,
  fall: 1,
  rise: 1,
  fade: 1,
  lengthening: 1,
  duration: 1,
};

/**
 * Sentences of the packs, of users and characters, whole, and cut after each word; both halves have the same weight.
 */
export function textExamples(language: 'en' | 'zh'): (Example & { readonly fold: string })[] {
  const random = randomFrom(1);
  const examples: (Example & { fold: string })[] = [];
  for (const pack of readdirSync(characters).filter((name) => !name.includes('.'))) {
    if ((pack === 'sun-wukong') !== (language === 'zh')) continue;
    const lines = readFileSync(join(characters, pack, 'lines.jsonl'), 'utf8')
      .trim()
      .split('\n');
    const sentences = lines.flatMap((line) => {
      const { asks, reply } = JSON.parse(line) as { asks: string[]; reply: string };
      return [...asks, ...(reply.match(/[^.!?。！？]+[.!?。！？]+/gu) ?? []).map((sentence) => sentence.trim())];
    });
    for (const [index, sentence] of sentences.entries()) {
      const fold = language === 'zh' ? String(index % 5) : pack;
      const add = (text: string, complete: boolean, weight: number): void => {
        const found = textCues(text, language);
        if (found?.language === language) examples.push({ cues: found.cues, complete, weight, fold });
      };
      const { whole, beginnings } = cutUp(sentence, language, random);
      add(whole, true, 1);
      for (const beginning of beginnings) add(beginning, false, 1 / beginnings.length);
    }
  }
  return examples;
}

function cutUp(sentence: string, language: 'en' | 'zh', random: () => number) {
  const [stop, comma, question] = language === 'zh' ? ['。', '，', '？'] : ['.', ',', '?'];
  const bare = sentence.replace(/[.!?。！？]+$/u, '');
  const isQuestion =
    /[?？]$/u.test(sentence) ||
    /^(what|how|why|when|where|who|is|are|do|did|can|could|will|would|have)\b/i.test(sentence);
  const words = [...new Intl.Segmenter(language, { granularity: 'word' }).segment(bare)].filter(
    ({ isWordLike }) => isWordLike,
  );
  const beginnings = words.slice(1).map(({ index }) => {
    const beginning = bare.slice(0, index).replace(/[\s,，、]+$/u, '');
    const draw = random();
    if (isQuestion && random() < marks.question) return beginning + question;
    return beginning + (draw < marks.stop ? stop : draw < marks.stop + marks.comma ? comma : '');
  });
  return { whole: bare + (isQuestion ? question : stop), beginnings };
}

/** A reproducible generator of numbers from 0 to 1. */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/**
 * Fits the weights of the text cues, and measures how well they separate held-out packs (Chinese: fifths): the area
 * under the ROC curve.
 */
export function fitText(language: 'en' | 'zh') {
  const fixed = setByHand[language];
  const examples = textExamples(language).filter(({ cues }) => Object.keys(fixed).every((cue) => !cues[cue]));
  const scored = heldOut(
    examples,
    ({ fold }) => fold,
    (training) => fitLogistic(training, ridge),
  );
  const thinned = scored.filter((_, index) => index % Math.ceil(scored.length / 3_000) === 0);
  return { n: examples.length, area: areaUnderCurve(thinned), weights: { ...fitLogistic(examples, ridge), ...fixed } };
}

/** The cases as examples of prosody: ends weigh as much as pauses and gaps together, pauses as much as gaps. */
export function prosodyExamples(cases: readonly PauseCase[]): (Example & PauseCase)[] {
  const total = 40;
  return cases.map((one) => {
    const alike = cases.filter(({ kind }) => kind === one.kind).length;
    const cues = prosodyCues(one.turn);
    const weight = (one.kind === 'end' ? total / 2 : total / 4) / alike;
    return { ...one, cues: { ...cues }, complete: one.kind === 'end', weight };
  });
}

/** Ridge regression without the cues whose weight would have the wrong sign. */
export function fitProsody(examples: readonly Example[]): Record<string, number> {
  let kept = examples;
  for (;;) {
    const weights = fitLogistic(kept, prosodyRidge);
    const wrong = Object.keys(expectedSigns).filter((cue) => (weights[cue] ?? 0) * (expectedSigns[cue] ?? 0) < 0);
    if (wrong.length === 0) return weights;
    kept = kept.map((example) => ({
      ...example,
      cues: Object.fromEntries(Object.entries(example.cues).filter(([cue]) => !wrong.includes(cue))),
    }));
  }
}

/** Cross-validation: scores each example with weights fitted on the other folds. */
export function heldOut<E extends Example>(
  examples: readonly E[],
  foldOf: (example: E) => string,
  fit: (training: readonly E[]) => Record<string, number>,
): (E & { readonly score: number })[] {
  const folds = new Set(examples.map(foldOf));
  return [...folds].flatMap((fold) => {
    const weights = fit(examples.filter((example) => foldOf(example) !== fold));
    const held = examples.filter((example) => foldOf(example) === fold);
    return held.map((example) => ({ ...example, score: logistic(example.cues, weights) }));
  });
}

/** Prints both tables of weights, to be copied into `voices/turn-detectors/`. */
export function printFit(cases: readonly PauseCase[]): void {
  const show = (weights: Record<string, number>): string =>
    Object.entries(weights)
      .filter(([, weight]) => Math.abs(weight) >= 0.005)
      .map(([cue, weight]) => `  ${cue}: ${Math.round(weight * 100) / 100},`)
      .join('\n');
  for (const language of ['en', 'zh'] as const) {
    const { n, area, weights } = fitText(language);
    console.log(
      `words, ${language}: ${n} examples, area under the curve ${area.toFixed(3)} held out\n${show(weights)}`,
    );
  }
  const examples = prosodyExamples(cases);
  const scored = heldOut(examples, ({ file }) => file, fitProsody);
  const area = (kind: string): string =>
    areaUnderCurve(scored.filter((one) => one.kind === 'end' || one.kind === kind)).toFixed(2);
  console.log(
    `voice: ${examples.length} examples, held out: against pauses ${area('pause')}, against gaps ${area('gap')}`,
  );
  console.log(show(fitProsody(examples)));
  const undecided = scored.map(({ score }) => probabilityOf(score));
  console.log(`probabilities from ${Math.min(...undecided).toFixed(2)} to ${Math.max(...undecided).toFixed(2)}`);
}
