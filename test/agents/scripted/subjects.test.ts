import { describe, expect, it } from 'vitest';
import { scriptedAgent } from '../../../agents/scripted/scripted.ts';
import { isOfOtherSubject } from '../../../agents/scripted/subjects.ts';
import type { Character } from '../../../characters/character.ts';
import { replyParts, smallCharacter, wordsOf } from '../actor/stand-ins.ts';

const lines = [
  { asks: ['Are you angry with me?'], reply: 'Not in the least.' },
  { asks: ['Are you alone?'], reply: 'But for the cat, yes.' },
  { asks: ['How old are you?'], reply: 'Sixty, and every year of it wet.' },
  { asks: ['Tell me about Old Harper'], reply: 'Harper taught me the nets, and I taught him to swear.' },
  { asks: ['How did Harper die?'], reply: 'Harper went down with the Mary Ann.' },
  { asks: ['How did he die?'], reply: 'By the cold, as they all do.' },
];
const fisher: Character = { ...smallCharacter(), lines };

async function lastReply(...messages: string[]): Promise<string> {
  const said: string[] = [];
  for (const message of messages)
    said.push(message, wordsOf(await replyParts(scriptedAgent(fisher), [...said, message])));
  return said.at(-1) ?? '';
}

describe('whom a question is about', () => {
  it.each([
    ['Were people angry?', 'Are you angry with me?', true],
    ['Are you angry?', 'Are you angry with me?', false],
    ['Were you alone?', 'Are you alone right now?', true],
    ['Were you alone?', 'Were you ever alone?', false],
    ['How old were you then?', 'How old do you think I am?', true],
    ['How old were you then?', 'How old is Watson?', true],
    ['Why do they call you Kit?', 'Why are you called Kit?', false],
    ['What is the sea like?', 'Do you like the sea?', false],
    ['他现在在哪儿？', '你现在在哪儿？', true],
    ['他对你好吗？', '你的师父对你好吗？', false],
  ])('“%s” against the trigger “%s”: %s', (question, trigger, isOther) => {
    expect(isOfOtherSubject(question, trigger)).toBe(isOther);
  });

  it('bug: a line about the character answered a question about others', async () => {
    expect(await lastReply('Are you angry with me?')).toBe(lines[0]?.reply);
    expect(await lastReply('Were people angry?')).not.toContain(lines[0]?.reply);
  });

  it('bug: a line about the present answered a question about the past', async () => {
    expect(await lastReply('Are you alone?')).toBe(lines[1]?.reply);
    expect(await lastReply('Were you alone?')).not.toContain(lines[1]?.reply);
    expect(await lastReply('How old were you then?')).not.toContain(lines[2]?.reply);
  });

  it('bug: “How did he die?” was answered of anybody, after talk of somebody with a name', async () => {
    expect(await lastReply('Tell me about Old Harper.', 'How did he die?')).toBe(lines[4]?.reply);
    expect(await lastReply('Good morning.', 'How did he die?')).toBe(lines[5]?.reply);
  });

  it('bug: a question of 200,000 signs took minutes, the square of its length', () => {
    expect(isOfOtherSubject(`${'他'.repeat(200_000)}你吗？`, '你好吗？')).toBe(false);
  });
});
