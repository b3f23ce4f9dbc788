import { z } from 'zod';
import { mean } from '../../statistics.ts';
import type { RunRecord } from '../../run-log.ts';
import { readOutcomes } from './judge-scorer.ts';
import type { Strictness } from './parse-scores.ts';
import { probeOf, probes, type Probe } from './probes.ts';
import type { Protocol, ProtocolQuestion } from './protocols.ts';

/** A judge's result on one probe. */
export interface ProbeResult {
  readonly probe: Probe;
  /** Dialogues judged in both orders. */
  readonly n: number;
  /** Dialogues with the right verdict: the reference won or, for two identical recordings, neither did. */
  readonly right: number;
  /** 95 % Wilson interval. */
  readonly low: number | null;
  readonly high: number | null;
  /** Reference minus probe in points, mean of both orders. */
  readonly difference: number | null;
  /** Dialogues whose winner changed with the order. */
  readonly flips: number;
  /** Questions without readable scores. */
  readonly unscored: number;
  /** True if at least 80 % are right. */
  readonly passed: boolean;
}

/** Adds every question with the reference first, unless the protocol swaps already. */
export function inBothOrders(protocol: Protocol): Protocol {
  if (protocol.questions.some((ask) => ask.first === 'reference')) return protocol;
  const asks = protocol.questions.flatMap((ask): ProtocolQuestion[] => [
    ask,
    { ...ask, key: `${ask.key}/swapped`, first: 'reference' },
  ]);
  return { ...protocol, questions: asks };
}

/** Evaluates the judge's verdicts on the probes. */
export function checkResults(record: RunRecord, protocol: Protocol, strictness: Strictness): ProbeResult[] {
  const ids = [...record.samples.keys()];
  return probes.map((probe) => {
    const rows = ids
      .filter((id) => probeOf(id) === probe)
      .map((id) => readOutcomes(protocol, record.measured.get(id) ?? new Map(), strictness))
      .map((outcomes) => {
        const differences = (first: ProtocolQuestion['first']): number[] =>
          outcomes.flatMap(({ ask, pairs }) => {
            const pair = ask.first === first ? pairs[probe.metric] : undefined;
            return pair === undefined ? [] : [pair.reference - pair.test];
          });
        const unscored = outcomes.filter(({ outcome }) => outcome !== 'scored').length;
        return { ahead: mean(differences('test')), behind: mean(differences('reference')), unscored };
      });
    const both = rows.flatMap(({ ahead, behind }) =>
      ahead === null || behind === null ? [] : [[ahead, behind] as const],
    );
    const right = both.filter(([ahead, behind]) =>
      probe.expected === 'worse' ? ahead + behind > 0 : Math.abs(ahead + behind) / 2 <= 0.5,
    ).length;
    const { low, high } = wilson(right, both.length);
    return {
      probe,
      n: both.length,
      right,
      low,
      high,
      difference: mean(both.map(([ahead, behind]) => (ahead + behind) / 2)),
      flips: both.filter(([ahead, behind]) => ahead * behind < 0).length,
      unscored: rows.reduce((sum, row) => sum + row.unscored, 0),
      passed: both.length > 0 && right / both.length >= 0.8,
    };
  });
}

function wilson(right: number, n: number): { low: number | null; high: number | null } {
  if (n === 0) return { low: null, high: null };
  const z = 1.96;
  const share = right / n;
  const middle = (share + (z * z) / (2 * n)) / (1 + (z * z) / n);
  const reach = (z / (1 + (z * z) / n)) * Math.sqrt((share * (1 - share)) / n + (z * z) / (4 * n * n));
  return { low: Math.max(0, middle - reach), high: Math.min(1, middle + reach) };
}

const schema = z.array(z.looseObject({ probe: z.looseObject({ name: z.string() }), passed: z.boolean() }));

/** Form of `check.json`, and the probes that it lacks or that the judge did not pass. */
export const checkFile = {
  schema,
  missed(results: z.infer<typeof schema>): string[] {
    const passed = new Set(results.filter((each) => each.passed).map(({ probe }) => probe.name));
    return probes.filter(({ name }) => !passed.has(name)).map(({ name }) => name);
  },
};
