import { describe, expect, it } from 'vitest';
import { classifyOverlap } from '../../../../server/session/input/overlap-classifier.ts';

const heard = (text: string, about: Partial<Parameters<typeof classifyOverlap>[0]> = {}) =>
  classifyOverlap({ text, isVoice: true, lastedMs: 300, isWhole: true, confidence: 0.6, ...about });

describe('classifyOverlap', () => {
  it.each(['Mm-hm.', 'Right.', 'I see,', '嗯。'])('classifies "%s" as a backchannel', (text) => {
    expect(heard(text)).toBe('aside');
  });

  it.each(['Stop.', 'Step.', 'What?', 'No', 'Hold on', '等一下', '你说什么'])(
    'classifies "%s" as an interruption',
    (text) => {
      expect(heard(text)).toBe('words');
    },
  );

  it('classifies three words or more as an interruption before they are over', () => {
    expect(heard('And then they', { isWhole: false })).toBe('words');
    expect(heard('我觉得他来了', { isWhole: false })).toBe('words');
  });

  it('classifies a short word that the ASR engine is unsure of as unclear', () => {
    expect(heard('Brilli,')).toBe('unclear');
    expect(heard('Brilli,', { lastedMs: 600 })).toBe('words');
    expect(heard('Gandalf.', { confidence: 0.95 })).toBe('words');
    expect(heard('Gandalf.', { confidence: undefined })).toBe('words');
  });

  it('postpones the decision while the only word is unsure', () => {
    expect(heard('Of', { isWhole: false })).toBeUndefined();
  });

  it('classifies a voice without words as an interruption after half a second', () => {
    expect(heard('', { lastedMs: 600 })).toBe('words');
    expect(heard('', { lastedMs: 300 })).toBe('unclear');
    expect(heard('', { lastedMs: 600, isVoice: false })).toBe('unclear');
    expect(heard('', { isWhole: false })).toBeUndefined();
  });
});
