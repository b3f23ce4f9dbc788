import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { probabilityOf, textCues, textLogit } from '../../../voices/turn-detectors/completeness.ts';

describe('a transcript looks complete', () => {
  it.each([
    'Ask what you can do for your country.',
    'What is your name?',
    'Do you remember the night we met?',
    'I would like a cup of tea, please.',
    'When I was young, I lived by the sea.',
    'Yes.',
    'No, I can not.',
    'Thank you very much.',
    'Of course.',
    'Good evening, sir.',
    "I don't know.",
    'tell me about the war',
    'what is your favourite song',
    '你叫什么名字？',
    '你吃饭了吗？',
    '我昨天去看了那个电影。',
    '我们一起走吧。',
    '好的。',
    '谢谢你。',
    '没关系',
  ])('that ends with “%s”', (text) => {
    expect(probabilityOf(textLogit(text))).toBeGreaterThan(0.6);
  });
});

describe('a transcript looks unfinished', () => {
  it.each([
    'I wanted to ask you about the.',
    'I went to the market and.',
    'I could not come because',
    'We were walking along the river because.',
    'So what I mean is.',
    'Well, you know,',
    'I was thinking, um.',
    'I would like to.',
    'Tell me about your.',
    'Have you ever seen',
    'Could you.',
    'If the reader will excuse me.',
    'My number is five five five.',
    'One, two,',
    'Produced the block books, which',
    "That was my brother's.",
    'I was going to say...',
    '我想',
    '我昨天没有来，因为。',
    '我喜欢苹果和。',
    '然后。',
    '如果明天下雨。',
    '这个问题我觉得，',
    '我想买一个。',
    '嗯',
  ])('that ends with “%s”', (text) => {
    expect(probabilityOf(textLogit(text))).toBeLessThan(0.5);
  });
});

describe('the words of a transcript', () => {
  it('are not judged in a language whose words are not known, nor where there are none', () => {
    for (const text of ['', ' ', '...', 'Как вас зовут?', 'お名前は何ですか']) expect(textLogit(text)).toBe(0);
    expect(textLogit('Wie heißen Sie?', 'de')).toBe(0);
    expect(textLogit('What is your name?', 'en-GB')).toBeGreaterThan(1);
  });

  it('count in the language they are written in', () => {
    expect(textCues('OK, thank you.', 'zh')?.language).toBe('en');
    expect(textCues('我喜欢 jazz 和', 'en')?.language).toBe('zh');
  });

  it('are judged by the last sentence', () => {
    expect(textLogit('I saw him yesterday. And then.')).toBeLessThan(0);
    expect(textLogit('I went there because. What do you think of it?')).toBeGreaterThan(1);
    expect(textLogit('我昨天去了。然后')).toBeLessThan(0);
  });

  it('are not called unfinished for lack of marks where the recognizer writes none', () => {
    expect(textLogit('it was raining all day')).toBeGreaterThan(textLogit('It was raining all day'));
    expect(textLogit('where do you live')).toBeGreaterThan(0);
    expect(textLogit('it was raining on the')).toBeLessThan(0);
  });

  it('take typographic marks for plain ones', () => {
    expect(textLogit('I don’t know.')).toBe(textLogit("I don't know."));
    expect(textLogit('I was going to say…')).toBe(textLogit('I was going to say...'));
  });

  it('never decide alone, whatever they are', () => {
    const alphabet = ['and', 'the', 'yes', '.', ', ', '? ', '的', '吗', '。', ' ', "'", '…', '7', 'ß', '\n', 'um'];
    const texts = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.array(fc.constantFrom(...alphabet)).map((parts) => parts.join(' ')),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const logit = textLogit(text);
        expect(Number.isFinite(logit)).toBe(true);
        expect(Math.abs(logit)).toBeLessThanOrEqual(4);
      }),
    );
  });

  it('are read quickly, however many', () => {
    const text = 'you know i mean and because '.repeat(20_000);
    expect(textLogit(text)).toBeLessThan(0);
    expect(textLogit('因为'.repeat(50_000))).toBeLessThan(0);
  });
});
