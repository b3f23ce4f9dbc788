import { expect, it } from 'vitest';
import { refineStage } from '../../../../eval/construction/coser/refine.ts';
import { openPrompts } from '../../../../eval/construction/runner/prompts.ts';
import type { Plot } from '../../../../eval/construction/coser/plots.ts';
import { Dropped, type StageContext } from '../../../../eval/construction/runner/stage.ts';

const talk = {
  scenario: 'A room.',
  topic: '',
  key_characters: [{ name: 'Irene', motivation: 'old' }],
  dialogues: [{ character: 'Irene', message: 'Good night.' }],
};
const plot: Plot = {
  id: 'b/p0',
  book: 'b',
  title: 'B',
  author: '',
  language: 'en',
  chapter: '',
  text: '',
  chunk: 0,
  prominence: 50,
  summary: '',
  key_characters: [],
  conversation: [talk],
  state: 'finished',
  provenance: { stage: '', sources: [], models: [], promptHashes: [] },
};

/** A context whose model gives one answer. */
function contextOf(answer: object, counted: string[]): StageContext {
  return {
    signal: new AbortController().signal,
    askJson: async ({ schema }) => {
      const parsed = schema.safeParse(answer);
      if (!parsed.success) throw new Dropped('wrong shape');
      return parsed.data;
    },
    askText: async () => '',
    embed: async () => [],
    folder: '',
    once: ({ make }) => make(),
    drop: () => undefined,
    count: (what) => void counted.push(what),
  };
}

it('a refined conversation has exactly the characters of the old one, or stays as it was', async () => {
  const stage = refineStage(openPrompts()('coser/refine'));
  const counted: string[] = [];
  const good = { scenario: 'Evening.', key_characters: [{ name: 'Irene', motivation: 'new' }] };
  const [refined] = await stage.run([plot], contextOf(good, counted));
  expect(refined?.conversation).toEqual([{ ...talk, ...good }]);
  const wrong = { scenario: 'Evening.', key_characters: [{ name: 'Norton', motivation: 'new' }] };
  const [kept] = await stage.run([plot], contextOf(wrong, counted));
  expect(kept?.conversation).toEqual([talk]);
  expect(counted).toEqual(['conversation not refined: wrong shape']);
});
