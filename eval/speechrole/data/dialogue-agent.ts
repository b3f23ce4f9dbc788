import type { DialogueOutput } from './answers.ts';
import type { DialogueSample } from './test-data.ts';
import type { EvalContext } from '../../task.ts';

/** A system under test: takes part in a dialogue and answers each user turn with speech. */
export interface DialogueAgent {
  /** Display name in reports. */
  readonly name: string;
  answer(sample: DialogueSample, context: EvalContext): Promise<DialogueOutput>;
}
