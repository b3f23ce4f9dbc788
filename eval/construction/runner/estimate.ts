import { estimateTokens } from '../../../agents/llm/token-estimate.ts';
import type { Pipeline } from './stage.ts';

/** Expected work of one stage. */
export interface StageEstimate {
  readonly stage: string;
  readonly records: number;
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly dollars: number;
}

/** Estimates a build without any call: the input is counted, the rest follows from what stages make of a record. */
export async function estimateBuild(
  pipeline: Pipeline,
  options: {
    readonly signal: AbortSignal;
    readonly limit?: number | undefined;
    readonly prices: { readonly input: number; readonly output: number };
  },
): Promise<readonly StageEstimate[]> {
  const { signal, limit = Infinity, prices } = options;
  let records = 0;
  let textTokens = 0;
  for await (const record of pipeline.records(signal)) {
    records += 1;
    textTokens += 'text' in record && typeof record.text === 'string' ? estimateTokens(record.text) : 0;
    if (records >= limit) break;
  }
  let isFirst = true;
  return pipeline.stages.map(({ name, estimate }) => {
    const calls = Math.ceil(records * (estimate?.calls ?? 0));
    // The first stage that asks is given the texts that have just been counted.
    const counted = isFirst && textTokens > 0 && estimate !== undefined ? textTokens + calls * 600 : undefined;
    if (estimate !== undefined) isFirst = false;
    const inputTokens = counted ?? calls * (estimate?.inputTokens ?? 0);
    const outputTokens = calls * (estimate?.outputTokens ?? 0);
    const dollars = (inputTokens * prices.input + outputTokens * prices.output) / 1e6;
    const made = { stage: name, records: Math.ceil(records), calls, inputTokens, outputTokens, dollars };
    records *= estimate?.records ?? 1;
    return made;
  });
}

/** Formats an estimate as a table. */
export function estimateText(stages: readonly StageEstimate[]): string {
  const number = (value: number): string => value.toLocaleString('en');
  const rows = stages.map(
    ({ stage, records, calls, inputTokens, outputTokens, dollars }) =>
      `  ${stage.padEnd(12)}${number(records)} records, ${number(calls)} calls, ${number(inputTokens)} + ${number(outputTokens)} tokens, $${dollars.toFixed(2)}`,
  );
  const dollars = stages.reduce((sum, stage) => sum + stage.dollars, 0);
  return [
    ...rows,
    `  in all      about ${number(stages.reduce((sum, { calls }) => sum + calls, 0))} calls, $${dollars.toFixed(2)}; without retries`,
  ].join('\n');
}
