import { expect, it } from 'vitest';
import { readGrowingText, readModelText } from '../../../voices/recognition/model-text.ts';

it.each([
  ['language English<asr_text>Good evening.', 'Good evening.', 'en'],
  ['language Chinese<asr_text>你好。', '你好。', 'zh'],
  ['language None<asr_text>', '', undefined],
  ['Good evening. language German<asr_text>Guten Abend.', 'Good evening. Guten Abend.', 'de'],
  ['<|yue|><|HAPPY|><|Speech|><|withitn|>你好。', '你好。', 'yue'],
  ['<|0.00|> Good evening.<|2.00|>', 'Good evening.', undefined],
  ['language is power', 'language is power', undefined],
])('a model that wrote "%s" has heard "%s"', (written, text, language) => {
  expect(readModelText(written)).toEqual({ text, language });
});

it('words that grow behind a tag are shown, and no part of the tag is', () => {
  const written = 'language English<asr_text>language is power';
  const shown = Array.from(written, (_, index) => readGrowingText(written.slice(0, index + 1)));
  expect(shown.every((text) => 'language is power'.startsWith(text))).toBe(true);
  expect(shown.at(-1)).toBe('language is power');
  expect(readGrowingText('language is')).toBe('');
  expect(readGrowingText('language is power')).toBe('language is power');
});
