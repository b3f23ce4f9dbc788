import type { Score } from '../task.ts';
import type { Verdict } from '../text/text-task.ts';
import type { AutoRpConfig } from './config.ts';
import { alignedIn, judgedMetrics, verdictIn, type JudgedMetric } from './judging.ts';
import type { AutoRpOutput } from './meeting.ts';
import type { Emotions } from './replies.ts';
import type { AlignmentItem, Meeting } from './test-set.ts';

/** Mean absolute difference as a share of the scale, which the paper calls NMAPE; 0 is best. */
export function nmape(label: readonly number[], judged: readonly number[]): number {
  return label.reduce((sum, value, at) => sum + Math.abs(value - (judged[at] ?? 0)), 0) / label.length / 10;
}

/** Share of a role's own labels that were chosen. */
export function recall(own: readonly string[], chosen: readonly string[]): number {
  return own.length === 0 ? 0 : own.filter((label) => chosen.includes(label)).length / own.length;
}

/** Share of the chosen labels that are the role's own; 0 if none was chosen. */
export function precision(own: readonly string[], chosen: readonly string[]): number {
  return chosen.length === 0 ? 0 : chosen.filter((label) => own.includes(label)).length / chosen.length;
}

/** Share of the four letters that agree. */
export function letterMatch(label: string, judged: string): number {
  return Array.from(label).filter((letter, at) => letter === judged[at]).length / label.length;
}

function f1(own: readonly string[], chosen: readonly string[]): number {
  const [p, r] = [precision(own, chosen), recall(own, chosen)];
  return p + r === 0 ? 0 : (2 * p * r) / (p + r);
}

/** Every score of a conversation. */
export function meetingScores(
  facts: Meeting,
  output: AutoRpOutput | undefined,
  { config, verdict }: { readonly config: AutoRpConfig; readonly verdict: (ask: string) => Verdict },
): Score[] {
  if (config.judge === undefined) return [];
  return judgedMetrics.flatMap((ask): Score[] => {
    const { state, text } = verdict(ask);
    const read = output !== undefined && state === 'answered' ? verdictIn(ask, text, facts, config.parser) : undefined;
    if (read !== undefined) return valuesOf(ask, read, facts, config);
    // The released code counts a reply that it cannot read as a no.
    const isNo =
      config.parser === 'strict' && state === 'unreadable' && (ask === 'human-likeness' || ask === 'coherence');
    const why = output === undefined ? 'the system failed' : `judge: ${state}`;
    return namesOf(ask, config).map((name) => (isNo ? { name, value: 0 } : { name, value: null, why }));
  });
}

function namesOf(ask: JudgedMetric, { candidates }: AutoRpConfig): string[] {
  const isList = ask === 'character' || ask === 'style';
  return isList && candidates === 'distractors' ? [ask, `${ask}-precision`, `${ask}-f1`] : [ask];
}

function valuesOf(ask: JudgedMetric, read: unknown, facts: Meeting, config: AutoRpConfig): Score[] {
  if (ask === 'character' || ask === 'style') {
    const [own, chosen] = [ask === 'style' ? facts.styles : facts.traits, read as readonly string[]];
    const values = [recall(own, chosen), precision(own, chosen), f1(own, chosen)];
    return namesOf(ask, config).map((name, at) => ({ name, value: values[at] ?? null }));
  }
  if (ask === 'emotion') return [{ name: ask, value: nmape(facts.emotions, read as Emotions) }];
  if (ask === 'relationship') return [{ name: ask, value: nmape([facts.relationship], [read as number]) }];
  if (ask === 'personality') return [{ name: ask, value: letterMatch(facts.personality, read as string) }];
  return [{ name: ask, value: Number(ask === 'role-choice' ? read === facts.answer : read) }];
}

/** The score of an alignment item; what the released code cannot read it counts as wrong. */
export function alignmentScores(facts: AlignmentItem, output: AutoRpOutput | undefined, config: AutoRpConfig): Score[] {
  const { dimension: name, label } = facts;
  if (output === undefined) return [{ name, value: null, why: 'the system failed' }];
  const read = alignedIn(facts, output.answers[0]?.text ?? '', config.parser);
  const isDistance = name === 'emotion' || name === 'relationship';
  if (read === undefined)
    return [
      config.parser === 'strict'
        ? { name, value: isDistance ? 1 : 0 }
        : { name, value: null, why: 'unreadable answer' },
    ];
  if (name === 'emotion') return [{ name, value: nmape(label as Emotions, read as Emotions) }];
  if (name === 'relationship') return [{ name, value: nmape([label as number], [read as number]) }];
  if (name === 'personality') return [{ name, value: letterMatch(label as string, read as string) }];
  return [{ name, value: recall(label as readonly string[], read as readonly string[]) }];
}
