import { isOfWorld, type DialoguePair } from '../../characters/card.ts';
import type { Recipe } from '../prompting/recipe.ts';
import { indexLines } from '../retrieval/line-index.ts';
import { buildPrompt } from '../prompting/prompt.ts';
import { recalledOf } from '../prompting/recalled.ts';

const exampleCount = 3;
const leastExampleFit = 0.3;

/**
 * Our recipe: the whole card under headings, a few lines as samples of the tone, rules for speech (short spoken
 * sentences, no markup, one thought), and notes before the last user message with the facts and experiences it triggers
 * and lines that resemble it. All are found by words, and by embedding too if there is an embedder.
 */
export const dramatis: Recipe = (character) => {
  const find = indexLines(
    character.lines.filter((pair) => !isOfWorld(pair)),
    character.name,
  );
  const recall = recalledOf(character);
  return (history, settings) => {
    const userMessage = history.findLast((message) => message.role === 'user')?.text ?? '';
    const fitting = (): DialoguePair[] =>
      find(userMessage)
        .filter((hit) => hit.fit >= leastExampleFit)
        .map((hit) => hit.pair);
    const examples = (settings.near?.lines ?? fitting()).slice(0, exampleCount);
    return {
      messages: buildPrompt(character, history, { ...settings, examples, recalled: recall(history, settings.near) }),
      sampling: { temperature: 0.8 },
      maxTokens: 220,
    };
  };
};
