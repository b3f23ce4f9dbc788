import type { DialogueAgent } from '../agents/dialogue-agent.ts';
import type { Scorer, Task } from '../task.ts';
import type { DialogueOutput } from './answers.ts';
import type { DialogueInput, DialogueSample, DialogueTarget } from './test-data.ts';

export type DialogueScorer = Scorer<DialogueInput, DialogueTarget, DialogueOutput>;
export type SpeechRoleTask = Task<DialogueInput, DialogueTarget, DialogueOutput>;

/** SpeechRole-Eval: dialogues in character, spoken, judged against a reference. */
export function speechRoleTask(
  samples: readonly DialogueSample[],
  agent: DialogueAgent,
  scorers: readonly DialogueScorer[],
): SpeechRoleTask {
  return {
    name: 'speechrole-eval',
    version: 1,
    async *samples() {
      yield* samples;
    },
    solve: (sample, context) => agent.answer(sample, context),
    scorers,
  };
}
