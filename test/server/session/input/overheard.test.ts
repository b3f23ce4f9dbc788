import { describe, expect, it } from 'vitest';
import { classifyOverlap } from '../../../../server/session/input/overlap-classifier.ts';

const heard = (text: string, about: Partial<Parameters<typeof classifyOverlap>[0]> = {}) =>
  classifyOverlap({ text, isVoice: true, lastedMs: 300, isWhole: true, confidence: 0.6, ...about });

describe('a sound over the reply', () => {
  it.each(['Mm-hm.', 'Right.', 'I see,', '嗯。'])('that is "%s" is a nod', (text) => {
    expect(heard(text)).toBe('aside');
  });

  it.each(['Stop.', 'Step.', 'What?', 'No', 'Hold on', '等一下', '你说什么'])(
    'that is "%s" takes the floor',
    (text) => {
      expect(heard(text)).toBe('words');
    },
  );

  it('of three words or more takes the floor before it is over', () => {
    expect(heard('And then they', { isWhole: false })).toBe('words');
    expect(heard('我觉得他来了', { isWhole: false })).toBe('words');
  });

  it('of a word that the recognizer is not sure of stops nobody, if it is short', () => {
    expect(heard('Brilli,')).toBe('unclear');
    expect(heard('Brilli,', { lastedMs: 600 })).toBe('words');
    expect(heard('Gandalf.', { confidence: 0.95 })).toBe('words');
    expect(heard('Gandalf.', { confidence: undefined })).toBe('words');
  });

  it('whose first word is unsure is waited for', () => {
    expect(heard('Of', { isWhole: false })).toBeUndefined();
  });

  it('without words takes the floor when a voice was heard for half a second', () => {
    expect(heard('', { lastedMs: 600 })).toBe('words');
    expect(heard('', { lastedMs: 300 })).toBe('unclear');
    expect(heard('', { lastedMs: 600, isVoice: false })).toBe('unclear');
    expect(heard('', { isWhole: false })).toBeUndefined();
  });
});
