import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Message } from '../../../agents/chat.ts';
import { openGuardrail } from '../../../agents/guardrails/guardrail-rules.ts';
import { maxSearchedCharacters, searchTerms } from '../../../agents/retrieval/words.ts';
import { openMemoryIndex } from '../../../agents/memory/memory-index.ts';
import { recalledOf } from '../../../agents/prompting/recalled.ts';
import { chooseLine } from '../../../agents/retrieval/choice.ts';
import { scriptedAgent } from '../../../agents/scripted/scripted.ts';
import { loadCharacter } from '../../../characters/character.ts';
import { charactersRead } from '../../fakes/character-count.ts';

const holmes = await loadCharacter(path.resolve(import.meta.dirname, '../../../characters/sherlock-holmes'));
const learned = {
  ...holmes,
  lorebook: [{ keys: ['Baker Street'], content: 'A street in London.', constant: false }],
  experiences: ['I once kept bees on the downs.'],
};
const { signal } = new AbortController();

function spoken(text: string): Message[] {
  return [{ role: 'user', text }];
}

const readers: Readonly<Record<string, (text: string) => unknown>> = {
  retrieval: (text) => Array.fromAsync(scriptedAgent(learned).reply(spoken(text), { signal })),
  'lorebook and experiences': (text) => recalledOf(learned)(spoken(text)),
  memory: (text) => {
    const index = openMemoryIndex();
    index.add([{ id: 'f1', text: 'They keep bees.', atMs: 0 }]);
    return index.find(text, 0);
  },
  guardrail: (text) => openGuardrail(learned, spoken(text))('The game is afoot, my dear fellow, so come along.'),
};

describe('hostile message of a user', () => {
  it.each(Object.entries(readers))('a remark of 5 MB is searched for no longer than its end: %s', async (_, read) => {
    for (const piece of ['I am, ', 'The old man walked on. ', '我是谁？']) {
      await charactersRead(() => read('Where are the bees?'));
      const end = piece.repeat(Math.ceil(maxSearchedCharacters / piece.length) + 1);
      const work = await charactersRead(() => read(end));
      expect(await charactersRead(() => read(piece.repeat(100_000) + end))).toBeLessThan(work * 1.5 + 10_000);
    }
  });

  it('what a user asks at the end of a long remark is still answered', async () => {
    const long = `${'The old man walked on and on. '.repeat(1_000)}Who are you?`;
    const [asked, both] = await Promise.all(
      ['Who are you?', long].map((text) => Array.fromAsync(scriptedAgent(learned).reply(spoken(text), { signal }))),
    );
    expect(both?.find(({ type }) => type === 'text-delta')).toEqual(asked?.find(({ type }) => type === 'text-delta'));
  });

  it('a greeting to a name of 2,000 letters is read once', () => {
    expect(searchTerms(`hello ${'a'.repeat(1_990)}?`)).toHaveLength(2);
    expect(searchTerms('Good evening, my dear captain!')).toEqual(searchTerms('Good evening!'));
  });

  it('a line is compared with the latest replies only', async () => {
    const lines = Array.from({ length: 60 }, (_, index) => `Line number ${index}.`);
    const talk = (count: number): Message[] =>
      Array.from({ length: count }, (_, index) => ({ role: 'assistant', text: `Something else ${index}.` }));
    const work = await charactersRead(() => chooseLine(lines, talk(1_000)));
    expect(await charactersRead(() => chooseLine(lines, talk(10_000)))).toBeLessThan(work * 1.1);
  });
});
