import { adapter as embeddings } from '../../../agents/embeddings/openai-embeddings.ts';
import type { Embedder } from '../../../agents/embeddings/embedder.ts';
import { openContext } from '../../../voices/calls/context.ts';
import { EvalError } from '../../eval-error.ts';
import { machineClock, openEndpoint } from '../../limits.ts';
import { seededRandom } from '../../statistics.ts';
import type { StageModel } from '../runner/build.ts';
import { openTextModel } from '../runner/model.ts';
import { paperThresholds, type Thresholds } from '../speechrole/dialogues.ts';
import type { DataHost } from './host.ts';

/** Prices of `--prices IN,OUT`; 0 without it. */
export function pricesIn(text: string | undefined): { readonly input: number; readonly output: number } {
  if (text === undefined) return { input: 0, output: 0 };
  const [input, output, ...more] = text.split(',').map(Number);
  if (input === undefined || output === undefined || more.length > 0 || !(input >= 0) || !(output >= 0))
    throw new EvalError('usage', '--prices must be two numbers: US dollars per million tokens, in and out.');
  return { input, output };
}

/** The parts of `--model [STAGE=]URL#NAME,…`; the stage is empty for the model of all others. */
export function modelParts(
  text: string,
  stages: readonly string[],
): readonly { readonly stage: string; readonly baseUrl: string; readonly model: string }[] {
  return text.split(',').map((part) => {
    const [, stage = '', baseUrl = '', model = ''] = /^(?:([\w-]+)=)?(https?:\/\/[^#]+)#(.+)$/.exec(part.trim()) ?? [];
    if (baseUrl !== '' && (stage === '' || stages.includes(stage))) return { stage, baseUrl, model };
    const form = 'must be URL#NAME or STAGE=URL#NAME';
    throw new EvalError('usage', `--model: "${part}" ${form}; stages: ${stages.join(', ')}.`);
  });
}

/** The models of `--model [STAGE=]URL#NAME,…`, by stage. */
export function modelsIn(
  flags: { readonly model: string; readonly keyName: string | undefined; readonly retries: number | undefined },
  {
    concurrency,
    prices,
    stages,
  }: { readonly concurrency: number; readonly prices: StageModel['prices']; readonly stages: readonly string[] },
  host: Pick<DataHost, 'environment'>,
): (stage: string) => StageModel {
  const key = keyIn(flags.keyName, host);
  const { retries = 4 } = flags;
  const opened = new Map<string, StageModel>();
  for (const { stage, baseUrl, model } of modelParts(flags.model, stages)) {
    const endpoint = openEndpoint(model, { concurrency, retries }, { clock: machineClock, random: seededRandom(7) });
    opened.set(stage, { model: openTextModel({ baseUrl, model, key }), endpoint, prices });
  }
  return (stage) => {
    const found = opened.get(stage) ?? opened.get('');
    if (found === undefined) throw new EvalError('usage', `--model: no model is given for the stage ${stage}.`);
    return found;
  };
}

/** The embedder of `--embedder URL#NAME`. */
export function embedderIn(
  text: string | undefined,
  keyName: string | undefined,
  host: DataHost,
): Embedder | undefined {
  if (text === undefined) return undefined;
  const [, baseUrl = '', model = ''] = /^(https?:\/\/[^#]+)#(.+)$/.exec(text) ?? [];
  if (baseUrl === '') throw new EvalError('usage', '--embedder must be URL#NAME.');
  const settings = { baseUrl, model };
  return embeddings.open(
    settings,
    openContext(model, { key: keyIn(keyName, host), callPolicy: [embeddings.callPolicy?.(settings) ?? {}] }),
  );
}

/** The thresholds of `--threshold`; those of the paper are valid only for its embedders. */
export function thresholdsIn(text: string | undefined, embedder: string | undefined): Thresholds {
  if (text === undefined) {
    if (embedder === undefined || /all-minilm|text2vec-bge-large-chinese/i.test(embedder)) return paperThresholds;
    throw new EvalError(
      'usage',
      '--threshold: give CONTEXT,DUPLICATE for this embedder; the paper’s belong to all-MiniLM-L6-v2.',
    );
  }
  const [context = NaN, duplicate = NaN] = text.split(',').map(Number);
  if (Number.isNaN(context + duplicate))
    throw new EvalError('usage', '--threshold must be two numbers, such as 0.4,0.9.');
  return { context: { en: context, zh: context }, duplicate: { en: duplicate, zh: duplicate } };
}

function keyIn(name: string | undefined, { environment }: Pick<DataHost, 'environment'>): string | undefined {
  const key = name === undefined ? undefined : environment[name];
  if (name !== undefined && key === undefined)
    throw new EvalError('usage', `--key-env: the variable ${name} is not set.`);
  return key;
}
