import type { DialogueAgent } from './dialogue-agent.ts';
import type { Scorer, Task } from '../../task.ts';
import type { DialogueOutput } from './answers.ts';
import { z } from 'zod';
import type { DialogueInput, DialogueSample, DialogueTarget } from './test-data.ts';

export type DialogueScorer = Scorer<DialogueInput, DialogueTarget, DialogueOutput>;
export type SpeechRoleTask = Task<DialogueInput, DialogueTarget, DialogueOutput>;

const turn = z.object({ text: z.string(), speech: z.string().nullable() });

/** Facts of a dialogue that are stored in the log. */
export const dialogueFacts = z.object({
  role: z.string(),
  language: z.enum(['en', 'zh']),
  mode: z.enum(['single', 'multi']),
  index: z.number(),
  domain: z.enum(['in', 'out']),
  category: z.string().nullable(),
  /** User turns. */
  turns: z.array(turn),
  /** Reference turns. */
  reference: z.array(turn),
});
export type DialogueFacts = z.infer<typeof dialogueFacts>;

/** Creates the SpeechRole-Eval task: spoken dialogues in character, judged against a reference. */
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
    describe({ input, target }): DialogueFacts {
      const { role, language, mode, index, domain, category, turns } = input;
      return { role, language, mode, index, domain, category, turns: [...turns], reference: [...target.turns] };
    },
    solve: (sample, context) => agent.answer(sample, context),
    scorers,
  };
}
