import { judgeDialects, messageContent } from '../../judge/dialects.ts';
import type { Judge, JudgeReply } from '../../judge/judge.ts';
import { fillTemplate } from '../../judge/template.ts';
import { measurementKey } from '../../run-log.ts';
import type { Score, Scorer, Solved } from '../../task.ts';
import type { DialogueOutput } from '../data/answers.ts';
import { joinClips, openClips } from './judge-clips.ts';
import { metricKeys, type MetricKey } from './metrics.ts';
import type { Strictness } from './parse-scores.ts';
import type { Protocol, ProtocolQuestion } from './protocols.ts';
import { ratioOf, type JudgedPair } from './scores.ts';
import { roleNameOf, type DialogueInput, type DialogueTarget } from '../data/test-data.ts';

/** Log record of one question: all replies of the judge, including unreadable ones. */
export interface JudgedAsk {
  readonly replies: readonly JudgeReply[];
}

/** The scorer's name in the log. */
export const judgeScorerName = 'judge';

export interface JudgeScorerOptions {
  readonly protocol: Protocol;
  /** Absent if a log is only read. */
  readonly judge?: Judge;
  readonly strictness: Strictness;
  /** Maximum retries of a question whose reply has no readable scores. */
  readonly parseRetries: number;
}

type DialogueScorer = Scorer<DialogueInput, DialogueTarget, DialogueOutput>;

/** Judges dialogues against their reference. Each score is the ratio to the reference. */
export function judgeScorer(options: JudgeScorerOptions): DialogueScorer {
  const { protocol, judge, strictness, parseRetries } = options;
  const clipsOf = openClips(protocol.clips);
  const byKey = new Map(protocol.questions.map((ask) => [ask.key, ask]));
  return {
    name: judgeScorerName,
    measurementKeys: () => [...byKey.keys()],
    async measure(key, solved, context): Promise<JudgedAsk> {
      const ask = byKey.get(key);
      if (judge === undefined || ask === undefined) throw new Error(`nobody can be asked ${key}`);
      const { test, reference } = await clipsOf(solved, context.audio);
      const clips = ask.first === 'test' ? { first: test, second: reference } : { first: reference, second: test };
      const pieces = fillTemplate(protocol.template, { ...dialogueValues(solved), ...protocol.valuesFor(ask) });
      const content = await messageContent(pieces, clips, judgeDialects[judge.dialect], joinClips);
      const { temperature, schema } = protocol;
      const replies: JudgeReply[] = [];
      do {
        replies.push(await judge.ask({ system: protocol.template.system, content, temperature, schema }, context));
      } while (!isReadable(replies.at(-1) as JudgeReply, ask, options) && replies.length <= parseRetries);
      return { replies };
    },
    score: (_solved, measured) =>
      metricKeys.map((metric): Score => {
        const pair = judgedPairs(protocol, measured, strictness)[metric];
        const value = pair === undefined || pair === null ? null : ratioOf(pair);
        const why = pair === undefined ? 'not judged' : pair === null ? 'no scores could be read' : undefined;
        return { name: metric, value, ...(why === undefined ? {} : { why }) };
      }),
  };
}

function dialogueValues({
  sample: { input },
}: Solved<DialogueInput, DialogueTarget, DialogueOutput>): Record<string, string> {
  return {
    system_prompt: input.systemPrompt,
    questions: input.turns.map((turn) => turn.text).join('\n###\n'),
    role: roleNameOf(input.systemPrompt) ?? input.role,
  };
}

function isReadable(reply: JudgeReply, ask: ProtocolQuestion, { protocol, strictness }: JudgeScorerOptions): boolean {
  const wanted = ask.metric === 'all' ? metricKeys.length : 1;
  return Object.keys(protocol.parse(reply.text, ask, strictness)).length === wanted;
}

/** Result of one question. */
export interface QuestionOutcome {
  readonly ask: ProtocolQuestion;
  readonly outcome: 'scored' | 'unparsed' | 'refused';
  readonly replies: readonly JudgeReply[];
  /** Text of the reply that counts: the first with readable scores. */
  readonly text: string;
  readonly pairs: Readonly<Partial<Record<MetricKey, JudgedPair>>>;
}

/** Parses the judge's replies about one dialogue, question by question; unanswered questions are skipped. */
export function readOutcomes(
  protocol: Protocol,
  measured: ReadonlyMap<string, unknown>,
  strictness: Strictness,
): QuestionOutcome[] {
  return protocol.questions.flatMap((ask): QuestionOutcome[] => {
    const kept = measured.get(measurementKey(judgeScorerName, ask.key)) as JudgedAsk | undefined;
    if (kept === undefined) return [];
    const read = kept.replies.map((reply) => ({ reply, scores: protocol.parse(reply.text, ask, strictness) }));
    const best = read.reduce((most, each) =>
      Object.keys(each.scores).length > Object.keys(most.scores).length ? each : most,
    );
    const pairs = Object.fromEntries(
      Object.entries(best.scores).map(([metric, [first, second]]) => [
        metric,
        ask.first === 'test' ? { test: first, reference: second } : { test: second, reference: first },
      ]),
    );
    const refused = kept.replies.some((reply) => isRefusal(reply));
    const outcome = Object.keys(pairs).length > 0 ? 'scored' : refused ? 'refused' : 'unparsed';
    return [{ ask, outcome, replies: kept.replies, text: best.reply.text, pairs }];
  });
}

/** True if the server reports a refusal, or the reply's text reads like one. */
export function isRefusal({ refusal, text }: JudgeReply): boolean {
  if (refusal !== null) return true;
  return /\b(I (?:can(?:no|')t|am unable to|won't)|I'm (?:sorry|unable|not able))\b|无法(?:评价|评估|处理|收听)|不能提供/i.test(
    text.slice(0, 300),
  );
}

/**
 * Computes a dialogue's scores by metric: the mean over all questions about it, with the same number of answers in both
 * orders, because otherwise the first position's advantage would remain. Null: asked, but too few replies could be
 * read. Absent: not asked.
 */
export function judgedPairs(
  protocol: Protocol,
  measured: ReadonlyMap<string, unknown>,
  strictness: Strictness,
): Partial<Record<MetricKey, JudgedPair | null>> {
  const outcomes = readOutcomes(protocol, measured, strictness);
  const wanted = (metric: MetricKey): number =>
    protocol.questions.filter((ask) => ask.metric === metric || ask.metric === 'all').length;
  const pairs: Partial<Record<MetricKey, JudgedPair | null>> = {};
  for (const metric of metricKeys) {
    const about = outcomes.filter(({ ask }) => ask.metric === metric || ask.metric === 'all');
    if (about.length < wanted(metric)) continue;
    const scored = about.flatMap(({ ask, pairs: found }) => {
      const pair = found[metric];
      return pair === undefined ? [] : [{ first: ask.first, pair }];
    });
    const balanced = balance(scored);
    const average = (which: 'test' | 'reference'): number =>
      balanced.reduce((sum, { pair }) => sum + pair[which], 0) / balanced.length;
    pairs[metric] = balanced.length === 0 ? null : { test: average('test'), reference: average('reference') };
  }
  return pairs;

  /** Keeps equally many answers of both orders, if the protocol swaps. */
  function balance<Each extends { readonly first: 'test' | 'reference' }>(scored: readonly Each[]): Each[] {
    if (!protocol.questions.some((ask) => ask.first === 'reference')) return [...scored];
    const of = (first: 'test' | 'reference'): Each[] => scored.filter((each) => each.first === first);
    const count = Math.min(of('test').length, of('reference').length);
    return [...of('test').slice(0, count), ...of('reference').slice(0, count)];
  }
}
