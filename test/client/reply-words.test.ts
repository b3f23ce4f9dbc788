import { expect, it } from 'vitest';
import { Reply } from '../../server/web/talk/reply.js';

it('reveals the words that a resumed reply repeats when they are heard, not when it resumes', () => {
  const entry = { text: '', close: () => undefined, remove: () => undefined };
  const reply = new Reply('item', entry as never);
  for (const [index, word] of ['one ', 'two ', 'three, ', 'four ', 'five '].entries()) reply.hold(word, index * 200);
  // Held in the fourth word, which begins a clause, with all five received; both are said again from 1,000 ms on.
  reply.reveal(650);
  expect(entry.text).toBe('one two three, four ');
  reply.delay(400);
  reply.reveal(1_010);
  expect(entry.text).toBe('one two three, four ');
  reply.reveal(1_210);
  expect(entry.text).toBe('one two three, four five ');
});
