import { describe, expect, it } from 'vitest';
import { recognizeAct } from '../../../../agents/scripted/acts/act-network.ts';
import { scriptedAgent } from '../../../../agents/scripted/scripted.ts';
import { replyParts, smallCharacter, wordsOf } from '../../actor/stand-ins.ts';

const martha = smallCharacter();

async function answer(character: typeof martha, ...talk: string[]): Promise<string> {
  return wordsOf(await replyParts(scriptedAgent(character), talk));
}

describe('acts that the network recognizes, and answers to what no line fits', () => {
  it.each([
    ['thanks', 'that is awfully kind of you'],
    ['goodbye', 'i must be getting home now'],
    ['pity', 'that must have been dreadful for you'],
    ['trouble', 'somebody stole my umbrella'],
    ['tired', 'i am completely worn out'],
    ['thanks', '太谢谢你了'],
  ])('%s is recognized in “%s”, which it was not trained on', (act, text) => {
    expect(recognizeAct(text, false).act).toBe(act);
  });

  it('the network recognizes thanks, farewells and sympathy that no form has', async () => {
    expect(await answer(martha, 'Much obliged to you, it has been nice having some company.')).toMatch(
      /welcome|Mind the step/i,
    );
    expect(await answer(martha, "I'd better let you get on.")).toMatch(/come again|Farewell|Mind the step/i);
    expect(await answer(martha, 'Poor Watson must have been heartbroken.')).toMatch(/weigh on one|good of you|kindly/);
  });

  it('a yes-or-no question without a line gets a short answer of its kind, no refusal', async () => {
    expect(await answer(martha, 'Do you like trams?')).toMatch(/small portions|own to everybody/);
    expect(await answer(martha, 'Were you scared of the storm?')).toMatch(/let it show|for a while/);
  });

  it('bug: what everybody knows that the character did was denied', async () => {
    expect(await answer(martha, 'Have you ever been to Bolivia?')).toMatch(/sooner not speak|another day/);
    expect(await answer(martha, 'Is that morning or evening?')).toMatch(/not choose|undecided|little of both/);
  });

  it('a sum in a sentence is computed', async () => {
    expect(await answer(martha, 'If four of you share thirty-six coins, how many does each one get?')).toContain('9');
    expect(await answer(martha, 'What is twelve take away five?')).toContain('7');
    expect(await answer(martha, "What's fifteen percent of two hundred and forty?")).toContain('36');
    expect(await answer(martha, 'I sell forty bushels at six dollars each. What do I get?')).toContain('240');
    expect(await answer(martha, 'My pay is 230 a week. What is that over seven and a half weeks?')).not.toMatch(
      /\d{2}/,
    );
  });

  it('“Wait, …?” asks; “Stop, let us talk about something else” changes the subject', async () => {
    expect(await answer(martha, 'Wait, who governs Bolivia?')).not.toMatch(/when you are ready|take your time/i);
    expect(await answer(martha, 'Stop, let us talk about something else.')).toMatch(
      /Shall I tell you|What shall we speak of/,
    );
  });
});
