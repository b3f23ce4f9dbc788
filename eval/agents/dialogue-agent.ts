import type { DialogueOutput } from '../speechrole/answers.ts';
import type { DialogueSample } from '../speechrole/test-data.ts';
import type { EvalContext } from '../task.ts';

/** A system under test: takes part in a dialogue and answers each user turn with speech. */
export interface DialogueAgent {
  /** Display name in reports. */
  readonly name: string;
  answer(sample: DialogueSample, context: EvalContext): Promise<DialogueOutput>;
}
