import { readWav } from '../../../voices/dsp/wav.ts';
import type { AudioStore } from '../../run-folder.ts';
import type { Scorer, Task, EvalContext } from '../../task.ts';
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

/** A system's answer in one round. */
export interface Answer {
  /** Text of the answer, as reported by the system. */
  readonly text: string;
  /** The system's transcript of the user; null if it reports none or was given text. */
  readonly heard: string | null;
  /** Name in the run's audio store; null if no audio arrived. */
  readonly audio: string | null;
  readonly seconds: number;
  /** Delay from the end of the user's speech (or text) to the first audio at the client; null if unknown. */
  readonly firstAudioMs: number | null;
  /** The server's own latency breakdown, if it sends one. */
  readonly latency: unknown;
  /** Name of the reply source that answered, if the server reports it. */
  readonly mind: string | null;
  /**
   * Reason if the answer is a fallback for one of the system's LLM: an error code, `script` or `retrieval`. Null if it
   * is not, absent in older logs.
   */
  readonly fallback?: string | null;
}

/** Stores a recording as an answer of which only the text is known. */
export async function recordedAnswer(text: string, wav: Buffer, audio: AudioStore): Promise<Answer> {
  const { samples, sampleRate } = await readWav(wav);
  const seconds = samples.length / sampleRate;
  return { text, heard: null, audio: await audio.keep(wav), seconds, firstAudioMs: null, latency: null, mind: null };
}

/** A system's output for one dialogue. */
export interface DialogueOutput {
  /** The system's description of itself: model, voice, engines. Null if it gives none. */
  readonly system: unknown;
  readonly answers: readonly Answer[];
}

/** A system under test: takes part in a dialogue and answers each user turn with speech. */
export interface DialogueAgent {
  /** Display name in reports. */
  readonly name: string;
  answer(sample: DialogueSample, context: EvalContext): Promise<DialogueOutput>;
}
