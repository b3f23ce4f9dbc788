import type { Judge, JudgeReply } from '../judge/judge.ts';
import { measurementKey, type RunRecord } from '../run-log.ts';
import type { Scorer } from '../task.ts';
import type { TextConfig } from './config.ts';
import type { Prompts } from './prompts.ts';
import type { SampleFacts, TextTask, Verdict } from './text-task.ts';

/** Name of the judge's measurements in logs. */
export const judgeName = 'judge';

/** Measurement in the log: every reply to one question, whole; none if there was nothing to ask. */
interface Measured {
  readonly replies: readonly JudgeReply[];
}

/** Asks the judge about outputs; an unreadable reply is asked for again, a limited number of times. */
export function textScorer<Config extends TextConfig, Facts extends SampleFacts, Output>(
  task: TextTask<Config, Facts, Output>,
  { judge, prompts, config }: { readonly judge: Judge; readonly prompts: Prompts; readonly config: Config },
): Scorer<Facts, null, Output> {
  return {
    name: judgeName,
    measurementKeys: ({ input }) => task.asks(input, config),
    async measure(ask, { sample: { input: facts }, output }, context): Promise<Measured> {
      const question = task.question(ask, { facts, output, config }, prompts);
      const replies: JudgeReply[] = [];
      if (question === undefined) return { replies };
      while (replies.length <= config.parseRetries) {
        const reply = await judge.ask(question, context);
        replies.push(reply);
        if (reply.refusal !== null || task.isReadable(ask, reply.text, facts, config)) break;
      }
      return { replies };
    },
    // Scores are computed from the log, for samples without an output too.
    score: () => [],
  };
}

/** Reads the judge's answers about a sample out of its measurements. */
export function verdictsOf<Config extends TextConfig, Facts extends SampleFacts, Output>(
  task: TextTask<Config, Facts, Output>,
  { facts, config, measured }: VerdictsWanted<Config, Facts>,
): (ask: string) => Verdict {
  return (ask) => {
    const found = measured?.get(measurementKey(judgeName, ask)) as Measured | undefined;
    if (found === undefined) return { state: 'failed', text: '' };
    const last = found.replies.at(-1);
    if (last === undefined) return { state: 'skipped', text: '' };
    const { text } = last;
    if (last.refusal !== null) return { state: 'refused', text };
    return { state: task.isReadable(ask, text, facts, config) ? 'answered' : 'unreadable', text };
  };
}

interface VerdictsWanted<Config, Facts> {
  readonly facts: Facts;
  readonly config: Config;
  readonly measured: ReadonlyMap<string, unknown> | undefined;
}

/** Counts of a judge's answers in a run. */
export interface TextJudgeHealth {
  readonly asked: number;
  readonly readable: number;
  readonly unreadable: number;
  readonly refused: number;
  /** Questions without an answer, since the judge or the system failed. */
  readonly failed: number;
  /** Replies asked for again because they could not be read. */
  readonly repeated: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Models that answered, as the server reports them. */
  readonly models: readonly string[];
}

/** Counts the judge's answers. */
export function textJudgeHealth<Config extends TextConfig, Facts extends SampleFacts, Output>(
  task: TextTask<Config, Facts, Output>,
  run: { readonly config: Config; readonly facts: ReadonlyMap<string, Facts>; readonly record: RunRecord },
): TextJudgeHealth {
  const states = { answered: 0, unreadable: 0, refused: 0, failed: 0, skipped: 0 };
  const counts = { repeated: 0, inputTokens: 0, outputTokens: 0 };
  const models = new Set<string>();
  const { config } = run;
  for (const [id, facts] of config.judge === undefined ? [] : run.facts) {
    const measured = run.record.measured.get(id);
    const verdict = verdictsOf(task, { facts, config, measured });
    for (const ask of task.asks(facts, config)) {
      states[verdict(ask).state] += 1;
      const { replies = [] } = (measured?.get(measurementKey(judgeName, ask)) ?? {}) as Partial<Measured>;
      counts.repeated += Math.max(0, replies.length - 1);
      for (const { inputTokens, outputTokens, model } of replies) {
        counts.inputTokens += inputTokens ?? 0;
        counts.outputTokens += outputTokens ?? 0;
        if (model !== null) models.add(model);
      }
    }
  }
  const { answered, unreadable, refused, failed } = states;
  return {
    asked: answered + unreadable + refused,
    readable: answered,
    unreadable,
    refused,
    failed,
    ...counts,
    models: [...models].toSorted(),
  };
}
