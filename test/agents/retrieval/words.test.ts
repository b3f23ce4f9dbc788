import { describe, expect, it } from 'vitest';
import { chooseLine, isSameLine } from '../../../agents/retrieval/choice.ts';
import { isFrame, languageOf, searchTerms } from '../../../agents/retrieval/words.ts';
import { paraphrasesOf, messageKey } from '../../../agents/retrieval/paraphrases.ts';
import { asHistory } from '../actor/stand-ins.ts';

describe('search terms', () => {
  it.each([
    ["What's your name?", 'what is your name'],
    ['I CAN’T swim.', 'I can not swim'],
    ['Have you any favourite stories?', 'Have you any favorite story'],
    ['So, um, who are you, really?', 'Who are you?'],
    ['Could you tell me who you are?', 'Who you are'],
    ['It is late, isn’t it?', 'It is late'],
    ['您好呀', '你好'],
    ['你要去哪儿？', '你要去哪里'],
  ])('the search terms of "%s" equal those of "%s"', (said, plain) => {
    expect(searchTerms(said)).toEqual(searchTerms(plain));
  });

  it('Chinese search terms are single characters and pairs', () => {
    expect(searchTerms('金箍棒')).toEqual(['金', '箍', '棒', '金箍', '箍棒']);
  });

  it('mixed scripts are split into search terms of each script', () => {
    expect(searchTerms('你是AI吗')).toContain('ai');
  });

  it('filler words stay search terms if there is nothing else', () => {
    expect(searchTerms('Really?')).not.toEqual([]);
    expect(searchTerms('?!')).toEqual([]);
  });

  it('phrasing words are distinguished from topic words', () => {
    expect(searchTerms('tell me about whales').filter((term) => !isFrame(term))).toEqual(searchTerms('whales'));
  });
});

describe('paraphrases', () => {
  const keysOf = (userMessage: string): string[] => paraphrasesOf(messageKey(userMessage)).map(({ key }) => key);

  it('any member of a paraphrase group finds the others', () => {
    expect(keysOf('How are you doing?')).toContain(messageKey('how have you been lately'));
    expect(keysOf('Where is the harpoon?')).toEqual([]);
  });

  it('no word is in two paraphrase groups', () => {
    const remarks = ['goodbye', 'why', 'are you an ai', 'i am tired', 'do you have a phone'].flatMap(keysOf);
    for (const remark of remarks) expect(paraphrasesOf(remark).map(({ key }) => key)).toContain(remark);
  });
});

describe('language detection', () => {
  it.each([
    ['Who are you?', ['zh', 'en'], 'en'],
    ['你会说English吗？我想学', ['en', 'zh'], 'zh'],
    ['Who are you?', ['zh'], 'zh'],
    ['こんにちは、元気？', ['en', 'ja'], 'ja'],
    ['Как дела?', ['en', 'ru'], 'ru'],
    ['...', ['en', 'zh'], 'en'],
    ['你好', ['en', 'zh-CN'], 'zh-CN'],
  ])('the language of "%s" among %j is %s', (text, offered, language) => {
    expect(languageOf(text, offered)).toBe(language);
  });
});

describe('choice of a line', () => {
  const lines = ['One.', 'Two.', 'Three.'];

  it('the choice of a line depends only on the history', () => {
    expect(chooseLine(lines, asHistory(['What?']))).toBe(chooseLine(lines, asHistory(['What?'])));
  });

  it('the choice of a line skips lines already said', () => {
    expect(chooseLine(lines, asHistory(['What?', 'One.', 'What?', 'Three.', 'What?']))).toBe('Two.');
  });

  it('the choice of a line returns to the line said longest ago', () => {
    expect(chooseLine(lines, asHistory(['a', 'Two.', 'b', 'One.', 'c', 'Three.', 'd']))).toBe('Two.');
  });

  it('the choice among no lines is undefined', () => {
    expect(chooseLine([], [])).toBe('');
  });

  it('the choice of a line treats the heard part of a line as that line', () => {
    expect(isSameLine('I was born in a', 'I was born in a log cabin.')).toBe(true);
    expect(isSameLine('I', 'I was born in a log cabin.')).toBe(false);
  });
});
