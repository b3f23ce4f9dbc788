import { expect, it } from 'vitest';
import { KnownTexts } from '../../../../eval/construction/records/contamination.ts';
import type { Dialogue } from '../../../../eval/construction/records/dialogue.ts';

const answer = 'I have been told that the king himself will come to this house tonight, in a mask.';

function dialogue(id: string, question: string, reply: string): Dialogue {
  return {
    id,
    language: 'en',
    source: '',
    rights: '',
    turns: [
      { speaker: 'User', kind: 'user', text: question },
      { speaker: 'Irene', kind: 'character', text: reply },
    ],
  };
}

it('a leak is the same conversation, the same question, or 13 words in a row', () => {
  const known = new KnownTexts();
  known.addDialogue(dialogue('held/1', 'Where were you last night?', answer));
  const why = (id: string, question: string, reply: string): string | undefined =>
    known.leakOf(dialogue(id, question, reply))?.why;
  expect(why('held/1', 'Something else entirely?', 'No.')).toBe('same conversation');
  expect(why('a', 'where WERE you last night', 'No.')).toBe('same question');
  expect(why('a', 'A new question?', `Well! ${answer.toUpperCase()} I say`)).toBe('same words in an answer');
  expect(why('a', 'A new question?', answer.split(' ').slice(0, 12).join(' '))).toBeUndefined();
});

it('rows of the papers count by what is asked and answered in them, and not by their profiles', () => {
  const known = new KnownTexts();
  known.addRow({ role: 'Irene', question: 'Where were you last night?', generated: [answer] });
  known.addRow({ system_prompt: 'You are the adventuress Irene Adler of whom the king of Bohemia is afraid tonight' });
  expect(known.leakOf(dialogue('a', 'Where were you last night?', 'No.'))?.why).toBe('same question');
  expect(known.leakOf(dialogue('a', 'A new question?', answer))?.why).toBe('same words in an answer');
  const profile = 'the adventuress Irene Adler of whom the king of Bohemia is afraid tonight, they say';
  expect(known.leakOf(dialogue('a', 'A new question?', profile))).toBeUndefined();
});
