import { expect, it } from 'vitest';
import type { ReplyPart } from '../../../agents/agent.ts';
import { scriptedAgent } from '../../../agents/scripted/scripted.ts';
import type { Surroundings } from '../../../agents/surroundings.ts';
import { smallCharacter } from '../actor/stand-ins.ts';

const plain = smallCharacter();
const innkeeper = {
  ...plain,
  lines: [
    ...plain.lines,
    { asks: ['Where are we?'], reply: 'In {{world::place}}, (nod) where else?' },
    { asks: ['What is the matter?'], reply: 'Fire in the kitchen!', when: { event: 'fire broke out' } },
    { asks: ['Is the bar open?'], reply: 'Not at night, love.', when: { state: { hour: 'night' } } },
  ],
};

/** What the innkeeper says and does, in a world. */
async function reply(says: string, world: Partial<Surroundings>): Promise<string> {
  const around: Surroundings = {
    facts: [],
    states: new Map(),
    news: [],
    actions: [],
    isAction: (inside) => inside === 'nod',
    ...world,
  };
  const parts: ReplyPart[] = [];
  const options = { signal: new AbortController().signal, surroundings: () => around };
  for await (const part of scriptedAgent(innkeeper).reply(says === '' ? [] : [{ role: 'user', text: says }], options))
    parts.push(part);
  return parts
    .map((part) => (part.type === 'text-delta' ? part.text : part.type === 'cue' ? `<${part.text}>` : ''))
    .join('');
}

it('says a line of the world only where it is so, with its states and actions', async () => {
  expect(await reply('Where are we?', { states: new Map([['place', 'the (jump) garden']]) })).toBe(
    'In the jump garden, <nod>where else?',
  );
  expect(await reply('Where are we?', {})).not.toContain('{{');
  expect(await reply('Is the bar open?', { states: new Map([['hour', 'Night']]) })).toBe('Not at night, love.');
  expect(await reply('Is the bar open?', { states: new Map([['hour', 'noon']]) })).not.toContain('night');
});

it('reacts to an event with the line that asks for it, and else keeps silent', async () => {
  const news = ['A fire broke out in the inn.'];
  expect(await reply('', { news, reacts: 'must' })).toBe('Fire in the kitchen!');
  expect(await reply('', { news: ['It rains.'], reacts: 'must' })).toBe('');
  expect(await reply('', { reacts: 'may' })).toBe('');
});
