import { EvalError } from '../../eval-error.ts';
import { coserPipeline } from '../coser/pipeline.ts';
import { dittoPipeline } from '../ditto/pipeline.ts';
import { novelPipeline } from '../novel/pipeline.ts';
import { roleLlmPipeline } from '../rolellm/pipeline.ts';
import type { Prompt } from '../runner/prompts.ts';
import type { Pipeline } from '../runner/stage.ts';
import type { DedupeBy, SplitBy, Thresholds } from '../speechrole/dialogues.ts';
import { speechRolePipeline } from '../speechrole/pipeline.ts';

/** Settings that builds take; each uses those that concern it. */
export interface PipelineOptions {
  readonly input: string;
  readonly rights: string;
  readonly promptOf: (name: string) => Prompt;
  readonly chunkTokens?: number | undefined;
  /** File with the table of roles. */
  readonly roles?: string | undefined;
  /** Requests a role and mode, and replies a request. */
  readonly requests?: number | undefined;
  readonly choices?: number | undefined;
  /** Questions to make for a role, and questions that all roles answer. */
  readonly candidates?: number | undefined;
  readonly questions?: readonly string[] | undefined;
  readonly thresholds?: Thresholds | undefined;
  readonly dedupeBy?: DedupeBy | undefined;
  readonly splitBy?: SplitBy | undefined;
  readonly devRoles?: readonly string[] | undefined;
}

const pipelines: Readonly<Record<string, (options: PipelineOptions) => Pipeline>> = {
  coser: coserPipeline,
  novel: novelPipeline,
  'speechrole-dialogues': speechRolePipeline,
  'context-instruct': roleLlmPipeline,
  ditto: dittoPipeline,
};

export const pipelineNames = Object.keys(pipelines);

/** Opens a build by its name. Throws an `EvalError` that lists the names. */
export function openPipeline(name: string, options: PipelineOptions): Pipeline {
  const open = Object.hasOwn(pipelines, name) ? pipelines[name] : undefined;
  if (open === undefined)
    throw new EvalError('usage', `There is no build "${name}". Choose one of: ${pipelineNames.join(', ')}.`);
  return open(options);
}
