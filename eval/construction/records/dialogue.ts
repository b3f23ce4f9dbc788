import { z } from 'zod';

const turn = z.object({
  speaker: z.string().min(1),
  kind: z.enum(['user', 'character', 'environment']),
  /** The words said; empty for a turn with only thoughts or actions. */
  text: z.string(),
  /** Inner thoughts, which others do not notice. */
  thought: z.string().optional(),
  /** The part that others see. */
  action: z.string().optional(),
  /** Path of a recording, relative to the folder of the build. */
  audio: z.string().optional(),
  /** Paths of further recordings of the same text. */
  moreAudio: z.array(z.string()).optional(),
  /** True if a model is trained to write this turn. */
  target: z.boolean().optional(),
});

/** One dialogue of any data set, as builds write it and exports read it. */
export const dialogueSchema = z.object({
  id: z.string().min(1),
  language: z.enum(['en', 'zh']),
  /** Book, role or data set. */
  source: z.string(),
  rights: z.string(),
  scene: z.string().optional(),
  system: z.string().optional(),
  /** Descriptions by speaker. */
  profiles: z.record(z.string(), z.string()).optional(),
  turns: z.array(turn).min(1),
  labels: z.record(z.string(), z.unknown()).optional(),
  provenance: z
    .object({
      stage: z.string(),
      sources: z.array(z.object({ file: z.string(), from: z.number(), to: z.number() })),
      models: z.array(z.string()),
      promptHashes: z.array(z.string()),
    })
    .optional(),
});

export type Dialogue = z.infer<typeof dialogueSchema>;
export type Turn = Dialogue['turns'][number];

/** Speech, thoughts and actions of a message in which thoughts are in [] and actions in (). */
export function partsOf(message: string): Pick<Turn, 'text' | 'thought' | 'action'> {
  const [thoughts, actions]: [string[], string[]] = [[], []];
  const text = message
    .replaceAll(/\[([^[\]]*)\]|【([^【】]*)】/g, (_, plain?: string, wide?: string) => {
      thoughts.push((plain ?? wide ?? '').trim());
      return ' ';
    })
    .replaceAll(/\(([^()]*)\)|（([^（）]*)）/g, (_, plain?: string, wide?: string) => {
      actions.push((plain ?? wide ?? '').trim());
      return ' ';
    })
    .replaceAll(/[ \t]+/g, ' ')
    .trim();
  const [thought, action] = [thoughts, actions].map((parts) => parts.filter(Boolean).join(' '));
  return { text, ...(thought ? { thought } : {}), ...(action ? { action } : {}) };
}

/** A message of a turn: [thought] first, then (action), then speech. */
export function messageOf({ text, thought, action }: Turn, { withThought = true } = {}): string {
  const parts = [thought && withThought ? `[${thought}]` : '', action ? `(${action})` : '', text];
  return parts.filter(Boolean).join(' ');
}
