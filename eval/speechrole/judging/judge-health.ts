import type { RunRecord } from '../../run-log.ts';
import { judgeScorerName, readOutcomes } from './judge-scorer.ts';
import type { Strictness } from './parse-scores.ts';
import type { Protocol } from './protocols.ts';
import { mean } from '../../../voices/dsp/statistics.ts';

/** Reliability statistics of a judge in one run. */
export interface JudgeHealth {
  /** Questions that got an answer. */
  readonly asked: number;
  readonly scored: number;
  /** Answered, but no reply had readable scores. */
  readonly unparsed: number;
  readonly refused: number;
  /** Unanswered because the server or the system under test failed. */
  readonly failed: number;
  /** Retries after unreadable replies. */
  readonly repeatedReplies: number;
  /** Pairs of questions that differ only in the order of the speakers. */
  readonly swapped: number;
  /** Swapped pairs whose winner changed with the order; a tie in one order is not a flip. */
  readonly flips: number;
  /** Swapped pairs in which the first (or second) position won in both orders. */
  readonly firstWinsBoth: number;
  readonly secondWinsBoth: number;
  /** Mean score advantage of the first position, in points. Null without swapped questions. */
  readonly firstAdvantage: number | null;
  /** Pooled standard deviation of test minus reference over repeats of a question. Null without repeats. */
  readonly repeatDeviation: number | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Model names reported in the server's answers. */
  readonly models: readonly string[];
}

/** Computes judge statistics over a whole run. */
export function judgeHealth(record: RunRecord, protocol: Protocol, strictness: Strictness): JudgeHealth {
  const count = { asked: 0, scored: 0, unparsed: 0, refused: 0, repeatedReplies: 0, inputTokens: 0, outputTokens: 0 };
  const flips = { swapped: 0, flips: 0, firstWinsBoth: 0, secondWinsBoth: 0 };
  const models = new Set<string>();
  const advantages: number[] = [];
  const squares = { sum: 0, degrees: 0 };
  for (const measured of record.measured.values()) {
    const outcomes = readOutcomes(protocol, measured, strictness);
    /** Test minus reference by metric, then by which of them was first. */
    const differences = new Map<string, { test: number[]; reference: number[] }>();
    for (const { ask, outcome, replies, pairs } of outcomes) {
      count.asked += 1;
      count[outcome] += 1;
      count.repeatedReplies += replies.length - 1;
      for (const reply of replies) {
        count.inputTokens += reply.inputTokens ?? 0;
        count.outputTokens += reply.outputTokens ?? 0;
        if (reply.model !== null) models.add(reply.model);
      }
      for (const [metric, pair] of Object.entries(pairs)) {
        const known = differences.get(metric) ?? { test: [], reference: [] };
        differences.set(metric, known);
        known[ask.first].push(pair.test - pair.reference);
      }
    }
    for (const { test, reference } of differences.values()) {
      for (const group of [test, reference]) pool(group, squares);
      compareOrders(test, reference, flips, advantages);
    }
  }
  return {
    ...count,
    failed: record.failures.filter((failure) => failure.scorer === judgeScorerName).length,
    ...flips,
    firstAdvantage: advantages.length === 0 ? null : mean(advantages),
    repeatDeviation: squares.degrees === 0 ? null : Math.sqrt(squares.sum / squares.degrees),
    models: [...models].toSorted(),
  };
}

/** Compares the differences with the test first (`aheads`) to those with the reference first (`behinds`). */
function compareOrders(
  aheads: readonly number[],
  behinds: readonly number[],
  flips: { swapped: number; flips: number; firstWinsBoth: number; secondWinsBoth: number },
  advantages: number[],
): void {
  for (let at = 0; at < Math.min(aheads.length, behinds.length); at += 1) {
    const [ahead, behind] = [aheads[at] as number, behinds[at] as number];
    flips.swapped += 1;
    if (ahead * behind < 0) flips.flips += 1;
    if (ahead > 0 && behind < 0) flips.firstWinsBoth += 1;
    if (ahead < 0 && behind > 0) flips.secondWinsBoth += 1;
    advantages.push((ahead - behind) / 2);
  }
}

function pool(values: readonly number[], squares: { sum: number; degrees: number }): void {
  if (values.length < 2) return;
  const average = mean(values);
  for (const value of values) squares.sum += (value - average) ** 2;
  squares.degrees += values.length - 1;
}
