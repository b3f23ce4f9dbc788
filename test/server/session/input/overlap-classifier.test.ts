import { describe, expect, it } from 'vitest';
import { classifyOverlap } from '../../../../server/session/input/overlap-classifier.ts';

const heard = (text: string, about: Partial<Parameters<typeof classifyOverlap>[0]> = {}) =>
  classifyOverlap({ text, languages: ['en'], isVoice: true, lastedMs: 300, isWhole: true, confidence: 0.6, ...about });

describe('classifyOverlap', () => {
  it.each(['Mm-hm.', 'Right.', 'I see,', 'I. C.', '嗯。'])('classifies "%s" as a backchannel', (text) => {
    expect(heard(text)).toBe('aside');
  });

  it.each(['Stop.', 'Step.', 'What?', 'No', 'Hold on', '等一下', '你说什么'])(
    'classifies "%s" as an interruption',
    (text) => {
      expect(heard(text)).toBe('words');
    },
  );

  it('does not take "it was" for an interruption of an English talk because German "was" is a command', () => {
    expect(heard('It was', { isWhole: false })).toBeUndefined();
    expect(heard('It was')).toBe('unclear');
    expect(heard('Was?', { languages: ['de'] })).toBe('words');
  });

  it('knows the commands of the languages that the user may be speaking', () => {
    expect(heard('Warte')).toBe('unclear');
    expect(heard('Warte', { languages: ['zh', 'de-AT'] })).toBe('words');
    expect(heard('Stop', { languages: ['fr'] })).toBe('words');
    expect(heard('Stop', { languages: ['it'] })).toBe('words');
    expect(heard('等一下', { languages: ['en'] })).toBe('words');
  });

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

  it('does not take "er", which the ASR engine spells "but", for an interruption', () => {
    expect(heard('But,')).toBe('unclear');
    expect(heard("Don't.", { isWhole: false })).toBeUndefined();
    expect(heard('But', { confidence: 0.9 })).toBe('words');
    expect(heard('But why?')).toBe('words');
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
