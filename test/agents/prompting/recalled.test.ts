import { describe, expect, it } from 'vitest';
import { omniPrompt } from '../../../agents/prompting/omni-prompt.ts';
import type { PackMatches } from '../../../agents/prompting/pack-search.ts';
import { recipeFor } from '../../../agents/recipes/recipes.ts';
import type { RecipeName } from '../../../agents/recipe-names.ts';
import { smallCharacter } from '../actor/stand-ins.ts';

const flood = 'In the year of the flood the river stood in the taproom, and you rowed the guests to bed.';
const fair = 'At the fair you beat a wrestler from the north with a ladle.';
const martha = smallCharacter({ experiences: [fair, flood, 'You buried three cats.', 'You once met the king.'] });
const asked = [{ role: 'user' as const, text: 'Was there ever a flood here?' }];
const small = [{ role: 'user' as const, text: 'What do you think?' }];

function sent(recipe: RecipeName, history: readonly { role: 'user'; text: string }[], near?: PackMatches): string {
  const settings = near === undefined ? {} : { near };
  return recipeFor(martha, recipe)(history, settings)
    .messages.map(({ text }) => text)
    .join('\n');
}

const near: PackMatches = {
  lines: [{ asks: ['Does the roof hold?'], reply: 'It has held worse.' }],
  lore: ['A grey lady walks in the cellar.'],
  experiences: [fair],
};

describe('experiences', () => {
  it.each(['dramatis', 'coser'] as const)(
    'the recipe %s puts in the experiences that the conversation triggers, and no others',
    (recipe) => {
      expect(sent(recipe, asked)).toContain(flood);
      expect(sent(recipe, asked)).not.toContain(fair);
      expect(sent(recipe, small)).not.toContain('You once met the king.');
    },
  );

  it.each(['dramatis', 'coser'] as const)(
    'the recipe %s puts experiences found by embedding into the prompt, with lore',
    (recipe) => {
      expect(sent(recipe, asked, near)).toContain(fair);
      expect(sent(recipe, asked, near)).not.toContain(flood);
      expect(sent(recipe, asked, near)).toContain('A grey lady walks in the cellar.');
    },
  );

  it('an omni model gets the recalled experiences', () => {
    const prompt = omniPrompt(martha, asked, {});
    expect(prompt.map(({ text }) => text).join('\n')).toContain(flood);
  });

  it('experiences take at most 400 tokens', () => {
    const long = smallCharacter({ experiences: [`The flood. ${'And then it rained. '.repeat(90)}`, flood] });
    const text = recipeFor(long)(asked, {}).messages.at(-1)?.text ?? '';
    expect(text).toContain(flood);
    expect(text).not.toContain('And then it rained.');
  });
});

describe('lines found by embedding', () => {
  it('chatharuhi uses lines found by embedding, and rolegpt never does, because it has only BM25', () => {
    expect(sent('chatharuhi', asked, near)).toContain('It has held worse.');
    expect(sent('rolegpt', asked, near)).not.toContain('It has held worse.');
    expect(sent('rolegpt', asked, near)).toBe(sent('rolegpt', asked));
  });
});
