import type { Judge } from '../judge/judge.ts';
import type { EvalContext } from '../task.ts';

/** Opens every conversation of a scene. */
export const start = '===Conversation Start===\n\n';
/** Sampling of all that act. */
export const sampling = { temperature: 0, maxTokens: 512 };

/** Messages of one role in a row. */
export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly parts: string[];
}

/** Neighbouring messages of one role are merged. */
export function add(history: Turn[], role: Turn['role'], text: string): void {
  const last = history.at(-1);
  if (last?.role === role) last.parts.push(text);
  else history.push({ role, parts: [text] });
}

/** Texts of the turns. */
export function textsOf(history: readonly Turn[]): string[] {
  return history.map(({ parts }) => parts.join('\n\n'));
}

/** Asks a model for the next turn. */
export async function askWith(
  model: Judge,
  { system, turns }: { readonly system: string; readonly turns: readonly Turn[] },
  context: EvalContext,
): Promise<{ readonly text: string }> {
  const texts = textsOf(turns);
  const history = turns.slice(0, -1).map(({ role }, at) => ({ role, content: texts[at] ?? '' }));
  return model.ask({ system, history, content: texts.at(-1) ?? '', ...sampling }, context);
}
