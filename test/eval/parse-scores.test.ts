import * as fc from '../fakes/property.ts';
import { describe, expect, it } from 'vitest';
import { isRefusal } from '../../eval/speechrole/judging/judge-scorer.ts';
import { metricKeys } from '../../eval/speechrole/judging/metrics.ts';
import {
  strictMetricScores,
  strictScores,
  tolerantMetricScores,
  tolerantScores,
} from '../../eval/speechrole/judging/parse-scores.ts';

describe('strict parser of free text', () => {
  it.each([
    ['Fine. [Scores]: (10, 7)', [10, 7]],
    ['Fine, [Scores]: (8,9)', [8, 9]],
    ['Fine. [Scores]:\n(8,\n9)', [8, 9]],
    ['[Scores]: (1, 2) and then [Scores]: (3, 4)', [1, 2]],
    ['[Scores]: (12, 0)', [12, 0]],
    ['[Scores]: (８, ９)', [8, 9]],
  ] as const)('the strict parser reads %j as the reference does', (text, pair) => {
    expect(strictScores(text)).toEqual(pair);
  });

  it.each([
    '[Scores]: (8.5, 9)',
    '**[Scores]:** (8, 9)',
    '[scores]: (8, 9)',
    '[Scores]: (Model A: 8, Model B: 9)',
    '[Scores] (8, 9)',
    '[Scores]: [8, 9]',
    '[Scores]: （8, 9）',
    '',
  ])('the strict parser finds nothing in %j, as the reference does', (text) => {
    expect(strictScores(text)).toBeNull();
  });
});

describe('tolerant parser of free text', () => {
  it.each([
    ['[Scores]: (8.5, 9)', [8.5, 9]],
    ['**[Scores]:** (8, 9)', [8, 9]],
    ['**[Scores]: (8, 9)**', [8, 9]],
    ['[scores]: (8, 9), where A is better.', [8, 9]],
    ['[Scores]: (Model A: 8, Model B: 9)', [8, 9]],
    ['[Scores]: (the score of Model A: 8, the score of Model B: 9)', [8, 9]],
    ['[Scores]: [8, 9]', [8, 9]],
    ['【Scores】：（8，9）', [8, 9]],
    ['```\n[Scores]: (7, 9)\n```', [7, 9]],
    ['Scores: 8/10, 9/10', [8, 9]],
    ['Scores: A = 8; B = 9', [8, 9]],
    ['Final scores: 8 and 9', [8, 9]],
  ] as const)('the tolerant parser reads %j', (text, pair) => {
    expect(tolerantScores(text)).toEqual(pair);
  });

  it.each(['[Scores]: (12, 9)', '[Scores]: (0, 9)', 'I would give both a high score.', 'Both deserve 8 of 10', ''])(
    'the tolerant parser finds nothing in %j',
    (text) => {
      expect(tolerantScores(text)).toBeNull();
    },
  );

  it('the tolerant parser agrees with the strict one if that finds scores in range', () => {
    const score = fc.integer({ min: 1, max: 10 });
    const noise = fc.stringMatching(/^[a-z .\n*()]{0,40}$/);
    fc.assert(
      fc.property(noise, score, score, noise, (before, first, second, after) => {
        const text = `${before}[Scores]: (${first}, ${second})${after}`;
        expect(tolerantScores(text)).toEqual(strictScores(text));
      }),
    );
  });

  it('the tolerant parser never throws, and never leaves 1 to 10', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        for (const score of tolerantScores(`[Scores]: ${text}`) ?? []) expect(score >= 1 && score <= 10).toBe(true);
        tolerantMetricScores(text);
      }),
    );
  });
});

const all = (entry: object): string => JSON.stringify(Object.fromEntries(metricKeys.map((key) => [key, entry])));

describe('parsers of all metrics at once', () => {
  it('both parsers read plain JSON and JSON in a fence', () => {
    const text = all({ reason: 'well', score_a: 8, score_b: 9 });
    for (const each of [text, `\`\`\`json\n${text}\n\`\`\``]) {
      expect(strictMetricScores(each)?.Speech_Fluency).toEqual([8, 9]);
      expect(tolerantMetricScores(each)).toEqual(strictMetricScores(each));
    }
  });

  it("both parsers read a list of scores, and truncate numbers as Python's int does", () => {
    expect(strictMetricScores(all({ reason: '', score: [8.9, '9'] }))?.Speech_Fluency).toEqual([8, 9]);
    expect(strictMetricScores(all({ reason: '', score: [8, '9.5'] }))).toBeNull();
  });

  it('without one metric the strict parser returns nothing, the tolerant one the rest', () => {
    const text = JSON.stringify({ Speech_Fluency: { reason: 'well', score_a: 8, score_b: 9 } });
    expect(strictMetricScores(text)).toBeNull();
    expect(tolerantMetricScores(text)).toEqual({ Speech_Fluency: [8, 9] });
  });

  it.each([
    ['words around', (json: string) => `Here you are: ${json} I hope that helps!`],
    ['a comma left behind', (json: string) => json.replace(/\}$/, ',}')],
    ['keys with blanks', (json: string) => json.replaceAll('_', ' ')],
    ['keys in lower case', (json: string) => json.toLowerCase()],
    ['texts for numbers', (json: string) => json.replaceAll(':8', ':"8/10"')],
  ])('the tolerant parser accepts %s', (_name, spoil) => {
    const text = spoil(all({ reason: 'a {brace} and, a comma', score_a: 8, score_b: 9.5 }));
    const found = tolerantMetricScores(text);
    expect(Object.keys(found)).toHaveLength(8);
    expect(found.Knowledge_Consistency?.[0]).toBe(8);
  });
});

const reply = (text: string, refusal: string | null = null) => ({
  text,
  refusal,
  finish: 'stop',
  model: null,
  inputTokens: null,
  outputTokens: null,
});

describe('refusals of a judge', () => {
  it.each([
    'I cannot evaluate these recordings.',
    "I'm sorry, but I can't listen to audio files.",
    'As a language model I am unable to process the audio.',
    "I won't score real people.",
    'Sorry. I am not able to help with this request.',
    '很抱歉，我无法收听这些录音。',
    '我不能提供这样的评价。',
  ])('%j refuses the task', (text) => {
    expect(isRefusal(reply(text))).toBe(true);
  });

  it.each([
    'I cannot fault either of them; both are fluent.',
    'I cannot hear any difference between them.',
    'The visitor says "I can\'t", and A answers well.',
    'I am unable to decide which is better: a tie.',
    '她说“我不能走”，语气很好，两者无法区分。',
    'Speaker A is sorry that he cannot help her.',
  ])('%j is unreadable, but no refusal', (text) => {
    expect(isRefusal(reply(text))).toBe(false);
  });

  it('a refusal that the server reports counts without words', () => {
    expect(isRefusal(reply('', 'content_filter'))).toBe(true);
  });
});
