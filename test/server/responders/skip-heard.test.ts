import { describe, expect, it } from 'vitest';
import type { ReplyPart } from '../../../agents/agent.ts';
import { skipHeard } from '../../../server/responders/skip-heard.ts';

/** A reply as an agent streams it: three characters at a time. */
async function* streamed(text: string): AsyncIterable<ReplyPart> {
  yield { type: 'reply-source', name: 'lines' };
  for (let at = 0; at < text.length; at += 3) yield { type: 'text-delta', text: text.slice(at, at + 3) };
}

async function rest(heard: string, text: string): Promise<string> {
  let said = '';
  for await (const part of skipHeard(streamed(text), heard)) if (part.type === 'text-delta') said += part.text;
  return said;
}

const line = 'You see, but you do not observe. The distinction is clear!';

describe('skipHeard', () => {
  it.each([
    ['', line],
    ['You see, but', 'you do not observe. The distinction is clear!'],
    ['You see, but you do not observe.', 'The distinction is clear!'],
    ['you see but you do not observe the', 'distinction is clear!'],
    [line, ''],
  ])('after “%s” continues with “%s”', async (heard, expected) => {
    expect(await rest(heard, line)).toBe(expected);
  });

  it('leaves a reply in other words whole, but for sentences that were heard', async () => {
    expect(await rest('You see, but you look away', line)).toBe(line);
    expect(await rest('You see, but you do not observe. It is', line)).toBe('The distinction is clear!');
  });

  it('says nothing more if whole sentences were heard and the model now answers in other words', async () => {
    expect(await rest('It was the butler. He had', line)).toBe('');
    expect(await rest('It was the butler.', line)).toBe('');
  });

  it('passes on all that is not text, also if nothing is left to say', async () => {
    const parts: string[] = [];
    for await (const { type } of skipHeard(streamed('So.'), 'So.')) parts.push(type);
    expect(parts).toEqual(['reply-source']);
  });
});
