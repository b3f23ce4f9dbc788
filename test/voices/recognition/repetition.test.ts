import { describe, expect, it } from 'vitest';
import { findRepetition } from '../../../voices/recognition/hypothesis.ts';

describe('findRepetition', () => {
  it('a repeated sentence is found with any punctuation', () => {
    const found = findRepetition("We can't do it. We can't do it, WE can't do it! We can'");
    expect(found.words).toBe(4);
    expect(found.share).toBeCloseTo(13 / 14);
  });

  it('a repeated word is found', () => {
    expect(findRepetition('Chuck, chuck, chuck, chuck, chuck.')).toEqual({ share: 1, words: 1 });
  });

  it('a loop at the end of a text is found', () => {
    const found = findRepetition('The first thing is to use the same thing as the same thing as the same thing');
    expect(found.words).toBeGreaterThan(0);
    expect(found.share).toBeGreaterThanOrEqual(0.5);
  });

  it.each(['', 'No.', 'No, no, no!', 'That was so, that was so.', 'ask not what your country can do for you', '...'])(
    'natural repetition is not a loop: %j',
    (text) => expect(findRepetition(text)).toEqual({ share: 0, words: 0 }),
  );

  it('rhetorical repetition is not a loop', () => {
    const text = 'government of the people, by the people, for the people, shall not perish from the earth';
    expect(findRepetition(text).share).toBeLessThan(0.5);
  });
});
