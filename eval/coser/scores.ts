import type { Score } from '../task.ts';
import type { Verdict } from '../text/text-task.ts';
import { sentenceBleu } from '../text-metrics/bleu.ts';
import { rougeL } from '../text-metrics/rouge-l.ts';
import { isChinese } from '../text-metrics/tokens.ts';
import type { ActedScene } from './acting.ts';
import type { Circumstance } from './circumstances.ts';
import type { CoserConfig } from './config.ts';
import { environment, transcriptOf } from './messages.ts';
import { dimensions, penaltiesIn, penaltyScore } from './penalties.ts';
import { mean } from '../../voices/dsp/statistics.ts';

/** Messages of characters: those of the environment do not count for the length of a scene. */
function roundsOf({ messages }: ActedScene): number {
  return messages.filter(({ character }) => character !== environment).length;
}

const reasons: Readonly<Record<Exclude<Verdict['state'], 'answered'>, string>> = {
  unreadable: 'unreadable reply',
  refused: 'the judge refused',
  failed: 'the judge failed',
  skipped: 'not asked',
};

/** Scores by the judge's penalties: null with a reason unless its reply could be read. */
export function penaltyScores(
  output: ActedScene | undefined,
  { parser, lengthCorrection }: CoserConfig,
  verdict: (ask: string) => Verdict,
): Score[] {
  const found = dimensions.map((dimension) => {
    const { state, text } = verdict(dimension.key);
    const penalties = output !== undefined && state === 'answered' ? penaltiesIn(text, dimension, parser) : null;
    const why = output === undefined ? 'no scene' : state === 'answered' ? reasons.unreadable : reasons[state];
    return { dimension, penalties, why };
  });
  const rounds = output === undefined ? 0 : roundsOf(output);
  const scoresBy = (formula: CoserConfig['lengthCorrection']): (number | null)[] =>
    found.map(({ penalties }) => (penalties === null ? null : penaltyScore(penalties.severities, rounds, formula)));
  const values = scoresBy(lengthCorrection);
  const why = found.find(({ penalties }) => penalties === null)?.why;
  const whole = (list: readonly (number | null)[]): number | null => {
    const known = list.filter((value) => value !== null);
    return known.length < list.length ? null : mean(known);
  };
  const scored = (name: string, value: number | null, reason = why): Score =>
    value === null && reason !== undefined ? { name, value, why: reason } : { name, value };
  const clamped = found.reduce((sum, { penalties }) => sum + (penalties?.clamped ?? 0), 0);
  return [
    ...found.map(({ dimension, why: reason }, at) => scored(dimension.key, values[at] ?? null, reason)),
    scored('case', whole(values)),
    scored('paper', whole(scoresBy('paper'))),
    scored('clamped', why === undefined ? clamped : null),
  ];
}

/** Scores that need no judge. */
export function sceneScores({ reference }: Circumstance, output: ActedScene | undefined, config: CoserConfig): Score[] {
  const names = ['bleu', 'rouge-l', 'messages', 'by-chance'] as const;
  if (output === undefined) return names.map((name) => ({ name, value: null, why: 'no scene' }));
  const ours = transcriptOf(output.messages.slice(config.continueFrom), { bare: config.bareTranscript });
  const theirs = transcriptOf(reference.slice(config.continueFrom));
  const { choices } = output;
  const byChance = choices.filter(({ isValid }) => !isValid).length;
  const tokens = isChinese(theirs) ? 'han' : 'marks';
  const hasBoth = ours !== '' && theirs !== '';
  return [
    { name: 'bleu', value: hasBoth ? sentenceBleu(ours, theirs) : null },
    { name: 'rouge-l', value: hasBoth ? rougeL(ours, [theirs], { tokens, references: 'first' }) : null },
    { name: 'messages', value: roundsOf(output) },
    { name: 'by-chance', value: choices.length === 0 ? null : byChance / choices.length },
  ];
}
