import { describe, expect, it } from 'vitest';
import { isShortAnswer } from '../../../voices/turn-detectors/short-answers.ts';

describe('short answers', () => {
  it.each([
    'yes',
    'no thank you',
    'yes please sir',
    'of course',
    "i don't know",
    'oh yes i do',
    'good night',
    '好的',
    '没 关系',
  ])('takes "%s" for a whole turn', (text) => {
    expect(isShortAnswer(text)).toBe(true);
  });

  it.each(['yes and', 'i do not', 'thank you for the', 'the good', '因为', ''])(
    'leaves "%s" to the network',
    (text) => {
      expect(isShortAnswer(text)).toBe(false);
    },
  );
});
