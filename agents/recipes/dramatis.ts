import type { Recipe } from '../recipe.ts';
import { indexLines } from '../line-index.ts';
import { lorebookOf } from '../lorebook.ts';
import { buildPrompt } from '../prompt.ts';

const exampleCount = 3;
const leastExampleFit = 0.3;

/**
 * Ours: the whole card under headings, a few lines as samples of the tone, rules for the ear (short spoken sentences, no markup, one
 * thought), and notes before the last remark with the facts it brings to mind and lines that resemble it.
 */
export const dramatis: Recipe = (character) => {
  const find = indexLines(character.lines, character.name);
  const recall = lorebookOf(character);
  return (history, settings) => {
    const remark = history.findLast((message) => message.role === 'user')?.text ?? '';
    const examples = find(remark)
      .filter((hit) => hit.fit >= leastExampleFit)
      .slice(0, exampleCount)
      .map((hit) => hit.pair);
    return {
      messages: buildPrompt(character, history, { ...settings, examples, recalled: recall(history) }),
      sampling: { temperature: 0.8 },
      maxTokens: 220,
    };
  };
};
