import * as fc from '../../fakes/property.ts';
import { describe, expect, it } from 'vitest';
import { wordsLogit } from '../../../voices/turn-detectors/words.ts';

const probability = (text: string, options = {}): number => 1 / (1 + Math.exp(-wordsLogit(text, options)));

describe('complete transcripts', () => {
  it.each([
    'Ask what you can do for your country.',
    'What is your name?',
    'Do you remember the night we met?',
    'I would like a cup of tea, please.',
    'Yes.',
    'No, I can not.',
    'Thank you very much.',
    'Of course.',
    'Good evening, sir.',
    "I don't know.",
    'tell me about the war',
    'what is your favourite song',
    'stop',
    'wait',
    '你叫什么名字？',
    '你吃饭了吗？',
    '我们一起走吧。',
    '好的。',
    '谢谢你。',
    '没关系',
  ])('the transcript looks complete: “%s”', (text) => {
    expect(probability(text)).toBeGreaterThan(0.6);
  });
});

describe('unfinished transcripts', () => {
  it.each([
    'I wanted to ask you about the.',
    'I went to the market and.',
    'I could not come because',
    'We were walking along the river because.',
    'Well, you know,',
    'I was thinking, um.',
    'I would like to.',
    'Tell me about your.',
    'Could you.',
    'If the reader will excuse me.',
    'One, two,',
    'Produced the block books, which',
    'I was going to say...',
    'and then i',
    '我想',
    '我昨天没有来，因为。',
    '我喜欢苹果和。',
    '然后。',
    '如果明天下雨。',
    '这个问题我觉得，',
    '我想买一个。',
    '嗯',
  ])('the transcript looks unfinished: “%s”', (text) => {
    expect(probability(text)).toBeLessThan(0.4);
  });
});

describe('completeness of words', () => {
  it('a sentence that could continue is neither complete nor unfinished', () => {
    for (const text of ['I went home', 'Has never been surpassed.', '我昨天去看了那个电影。']) {
      expect(probability(text)).toBeGreaterThan(0.3);
      expect(probability(text)).toBeLessThan(0.8);
    }
  });

  it('text in an unknown language, or without words, is undecided', () => {
    for (const text of ['', ' ', '...', 'Как вас зовут?', 'お名前は何ですか', 'Ich suche den Bahnhof'])
      expect(wordsLogit(text)).toBe(0);
    expect(wordsLogit('Wie heißen Sie?', { language: 'de' })).toBe(0);
    expect(wordsLogit('What is your name?', { language: 'en-GB' })).toBeGreaterThan(1);
  });

  it('a transcript is judged in the language it is written in', () => {
    expect(wordsLogit('OK, thank you.', { language: 'zh' })).toBeGreaterThan(0);
    expect(wordsLogit('我喜欢 jazz 和', { language: 'en' })).toBeLessThan(0);
  });

  it('the line of the character counts', () => {
    expect(wordsLogit('in the garden', { before: 'Where did you see her last?' })).not.toBe(
      wordsLogit('in the garden'),
    );
  });

  it('marks and capitals have little effect, and their absence has none', () => {
    expect(wordsLogit('it was raining all day')).toBe(wordsLogit('It was raining all day.'));
    expect(wordsLogit('I don’t know.')).toBe(wordsLogit("I don't know."));
    expect(wordsLogit('I went home,')).toBeLessThan(wordsLogit('I went home.'));
  });

  it('words alone never decide, for any words', () => {
    const alphabet = ['and', 'the', 'yes', '.', ', ', '? ', '的', '吗', '。', ' ', "'", '…', '7', 'ß', '\n', 'um'];
    const texts = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.array(fc.constantFrom(...alphabet)).map((parts) => parts.join(' ')),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const logit = wordsLogit(text);
        expect(Number.isFinite(logit)).toBe(true);
        expect(Math.abs(logit)).toBeLessThanOrEqual(4);
      }),
    );
  });

  it('of a very long transcript only the last words count', () => {
    const text = 'you know i mean and because '.repeat(20_000);
    expect(wordsLogit(text)).toBe(wordsLogit(text.slice(-400)));
    expect(wordsLogit('因为'.repeat(50_000))).toBeLessThan(0);
  });
});
