import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { probabilityOf, textCues, textLogit } from '../../../voices/turn-detectors/completeness.ts';

describe('complete transcripts', () => {
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
  ])('the transcript looks complete: “%s”', (text) => {
    expect(probabilityOf(textLogit(text))).toBeGreaterThan(0.6);
  });
});

describe('unfinished transcripts', () => {
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
  ])('the transcript looks unfinished: “%s”', (text) => {
    expect(probabilityOf(textLogit(text))).toBeLessThan(0.5);
  });
});

describe('text completeness', () => {
  it('text in an unknown language, or without words, is undecided', () => {
    for (const text of ['', ' ', '...', 'Как вас зовут?', 'お名前は何ですか']) expect(textLogit(text)).toBe(0);
    expect(textLogit('Wie heißen Sie?', 'de')).toBe(0);
    expect(textLogit('What is your name?', 'en-GB')).toBeGreaterThan(1);
  });

  it('a transcript is judged in the language it is written in', () => {
    expect(textCues('OK, thank you.', 'zh')?.language).toBe('en');
    expect(textCues('我喜欢 jazz 和', 'en')?.language).toBe('zh');
  });

  it('a transcript is judged by its last sentence', () => {
    expect(textLogit('I saw him yesterday. And then.')).toBeLessThan(0);
    expect(textLogit('I went there because. What do you think of it?')).toBeGreaterThan(1);
    expect(textLogit('我昨天去了。然后')).toBeLessThan(0);
  });

  it('missing punctuation does not count as unfinished if the recognizer writes none', () => {
    expect(textLogit('it was raining all day')).toBeGreaterThan(textLogit('It was raining all day'));
    expect(textLogit('where do you live')).toBeGreaterThan(0);
    expect(textLogit('it was raining on the')).toBeLessThan(0);
  });

  it('typographic quotes and ellipses count as plain ones', () => {
    expect(textLogit('I don’t know.')).toBe(textLogit("I don't know."));
    expect(textLogit('I was going to say…')).toBe(textLogit('I was going to say...'));
  });

  it('the text alone never decides, whatever it is', () => {
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

  it('a very long transcript is judged quickly', () => {
    const text = 'you know i mean and because '.repeat(20_000);
    expect(textLogit(text)).toBeLessThan(0);
    expect(textLogit('因为'.repeat(50_000))).toBeLessThan(0);
  });
});
