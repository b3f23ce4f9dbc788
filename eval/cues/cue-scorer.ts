import { EvalError } from '../eval-error.ts';
import type { DialogueScorer } from '../speechrole/task.ts';

/** Placeholder until the cues are there. */
export async function openCues(names: readonly string[], _roleVoices: string | undefined): Promise<DialogueScorer> {
  throw new EvalError('usage', `There are no cues yet: ${names.join(', ')}.`);
}
