import { expect, it } from 'vitest';
import { loadCharacters } from '../../../characters/character.ts';
import { scriptedAgent } from '../../../agents/scripted/scripted.ts';
import { wordsOf } from '../actor/stand-ins.ts';

const alice = (await loadCharacters('characters')).find(({ id }) => id === 'alice');

it.each(['The host: Who are you?', 'The host: Alice, who are you?', 'Sherlock Holmes: Who are you?'])(
  'a user message in a scene was looked up with the name of its speaker: “%s”',
  async (text) => {
    if (alice === undefined) throw new Error('the pack of Alice is missing');
    const agent = scriptedAgent(alice);
    const { signal } = new AbortController();
    const circumstance = { motivation: 'To find the cat.', others: [] };
    const plain = await Array.fromAsync(agent.reply([{ role: 'user', text: 'Who are you?' }], { signal }));
    const inScene = await Array.fromAsync(agent.reply([{ role: 'user', text }], { signal, circumstance }));
    expect(wordsOf(inScene)).toBe(wordsOf(plain));
  },
);
