import { describe, expect, it } from 'vitest';
import { hearOut, say } from './step.ts';
import type { Scenario } from './scenario.ts';
import { wrongIn } from './suite.ts';

describe('an ordinary conversation', () => {
  it.each<Scenario>([
    {
      name: 'a question is heard, answered and kept',
      engines: { thinks: [{ says: 'I am Holmes. I live in Baker Street.' }] },
      script: [say('Who are you?'), hearOut],
      expect: {
        history: ['user: Who are you?', 'assistant: I am Holmes. I live in Baker Street.'],
        replies: ['completed'],
        errors: [],
      },
    },
  ])('$name', async (scenario) => {
    expect(await wrongIn(scenario)).toEqual([]);
  });
});
