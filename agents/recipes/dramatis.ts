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
    const fitting = find(remark)
      .filter((hit) => hit.fit >= leastExampleFit)
      .map((hit) => hit.pair);
    const examples = (settings.near?.lines ?? fitting).slice(0, exampleCount);
    const recalled = [...new Set([...recall(history), ...(settings.near?.lore ?? [])])];
    return {
      messages: buildPrompt(character, history, { ...settings, examples, recalled }),
      sampling: { temperature: 0.8 },
      maxTokens: 220,
    };
  };
};
