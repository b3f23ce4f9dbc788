import { describe, expect, it } from 'vitest';
import { chooseLine, isSameLine } from '../../../agents/retrieval/choice.ts';
import { languageOf } from '../../../agents/language.ts';
import { paraphrasesOf, messageKey } from '../../../agents/retrieval/paraphrases.ts';
import { isFrame, searchTerms } from '../../../agents/retrieval/words.ts';
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
  ])('of "%s" are those of "%s"', (said, plain) => {
    expect(searchTerms(said)).toEqual(searchTerms(plain));
  });

  it('of Chinese are characters and pairs', () => {
    expect(searchTerms('金箍棒')).toEqual(['金', '箍', '棒', '金箍', '箍棒']);
  });

  it('split mixed writing', () => {
    expect(searchTerms('你是AI吗')).toContain('ai');
  });

  it('keep fillers where there is nothing else', () => {
    expect(searchTerms('Really?')).not.toEqual([]);
    expect(searchTerms('?!')).toEqual([]);
  });

  it('tell frames from topics', () => {
    expect(searchTerms('tell me about whales').filter((term) => !isFrame(term))).toEqual(searchTerms('whales'));
  });
});

describe('paraphrases', () => {
  it('are found by any of their number', () => {
    expect(paraphrasesOf('How are you doing?')).toContain('how have you been lately');
    expect(paraphrasesOf('Where is the harpoon?')).toEqual([]);
  });

  it('never stand in two groups', () => {
    const remarks = ['goodbye', 'why', 'are you an ai', 'i am tired', 'do you have a phone'].flatMap(paraphrasesOf);
    for (const remark of remarks) expect(paraphrasesOf(remark).map(messageKey)).toContain(messageKey(remark));
  });
});

describe('the language of a text', () => {
  it.each([
    ['Who are you?', ['zh', 'en'], 'en'],
    ['你会说English吗？我想学', ['en', 'zh'], 'zh'],
    ['Who are you?', ['zh'], 'zh'],
    ['こんにちは、元気？', ['en', 'ja'], 'ja'],
    ['Как дела?', ['en', 'ru'], 'ru'],
    ['...', ['en', 'zh'], 'en'],
    ['你好', ['en', 'zh-CN'], 'zh-CN'],
  ])('"%s", of %j, is %s', (text, offered, language) => {
    expect(languageOf(text, offered)).toBe(language);
  });
});

describe('the choice of a line', () => {
  const lines = ['One.', 'Two.', 'Three.'];

  it('depends on the history alone', () => {
    expect(chooseLine(lines, asHistory(['What?']))).toBe(chooseLine(lines, asHistory(['What?'])));
  });

  it('passes over what was said', () => {
    expect(chooseLine(lines, asHistory(['What?', 'One.', 'What?', 'Three.', 'What?']))).toBe('Two.');
  });

  it('comes round to what was said longest ago', () => {
    expect(chooseLine(lines, asHistory(['a', 'Two.', 'b', 'One.', 'c', 'Three.', 'd']))).toBe('Two.');
  });

  it('of none is nothing', () => {
    expect(chooseLine([], [])).toBe('');
  });

  it('takes the heard part of a line for the line', () => {
    expect(isSameLine('I was born in a', 'I was born in a log cabin.')).toBe(true);
    expect(isSameLine('I', 'I was born in a log cabin.')).toBe(false);
  });
});
