import { describe, expect, it } from 'vitest';
import { scriptedAgent } from '../../../agents/scripted/scripted.ts';
import type { Character } from '../../../characters/character.ts';
import { replyParts, smallCharacter, wordsOf } from '../actor/stand-ins.ts';

const climb = {
  asks: ['Have you ever climbed a mountain?'],
  reply: 'Once I climbed the Blue Peak with a goat on my back.',
  followUps: {
    why: 'Because the well was dry.',
    howLong: 'Nine days.',
    who: 'My brother Tom.',
    feeling: 'My knees shook the whole way.',
    next: 'We found a spring.',
    more: 'The path is all stones and thistles.',
  },
};
const climber: Character = { ...smallCharacter(), lines: [...smallCharacter().lines, climb] };

/** Says these messages in turn; returns the replies. */
async function talk(character: Character, ...messages: string[]): Promise<string[]> {
  const said: string[] = [];
  for (const message of messages)
    said.push(message, wordsOf(await replyParts(scriptedAgent(character), [...said, message])));
  return said.filter((_text, index) => index % 2 === 1);
}

describe('follow-ups of the line said last', () => {
  it.each([
    ['Why?', 'Because the well was dry.'],
    ['But why did you do that?', 'Because the well was dry.'],
    ['How long did it take?', 'Nine days.'],
    ['Who helped you?', 'My brother Tom.'],
    ['Who was it?', 'My brother Tom.'],
    ['Were you scared?', 'My knees shook the whole way.'],
    ['And what happened then?', 'We found a spring.'],
    ['Tell me more about it.', 'The path is all stones and thistles.'],
  ])('the question “%s” about the line said last is answered by its follow-up', async (asked, answered) => {
    const [, reply] = await talk(climber, 'Have you ever climbed a mountain?', asked);
    expect(reply).toBe(answered);
  });

  it.each(['How are you?', 'Who are you?', 'How old are you?', 'Where do you live?', 'Who is the king of Spain?'])(
    'the question “%s” after a line is no follow-up of it',
    async (asked) => {
      const [, reply] = await talk(climber, 'Have you ever climbed a mountain?', asked);
      expect(Object.values(climb.followUps)).not.toContain(reply);
    },
  );

  it('a follow-up of a follow-up is answered by the same line, and none is said twice in a row', async () => {
    const replies = await talk(climber, 'Have you ever climbed a mountain?', 'Why?', 'How did it end?', 'And then?');
    expect(replies.slice(1, 3)).toEqual(['Because the well was dry.', 'We found a spring.']);
    expect(replies[3]).not.toBe('We found a spring.');
  });
});
