import type { DialogueOutput } from './answers.ts';
import type { DialogueSample } from './test-data.ts';
import type { EvalContext } from '../../task.ts';

/** A system under test: takes part in a dialogue, and answers each of the user's turns in sound. */
export interface DialogueAgent {
  /** As the report calls it. */
  readonly name: string;
  answer(sample: DialogueSample, context: EvalContext): Promise<DialogueOutput>;
}
