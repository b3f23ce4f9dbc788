import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { autoRpConfigSchema } from '../../../eval/autorp/config.ts';
import { maskNames } from '../../../eval/autorp/judging.ts';
import { cosine, vectorOf } from '../../../eval/autorp/people.ts';
import {
  choiceIn,
  emotionsIn,
  labelsIn,
  personalityIn,
  relationshipIn,
  truthIn,
} from '../../../eval/autorp/replies.ts';
import { letterMatch, nmape, precision, recall } from '../../../eval/autorp/scores.ts';
import { autoRp } from '../../../eval/autorp/task.ts';
import type { Meeting } from '../../../eval/autorp/test-set.ts';
import { rowOf, type ScoredSample } from '../../../eval/text/rows.ts';
import type { Verdict } from '../../../eval/text/text-task.ts';

const meeting: Meeting = {
  kind: 'meeting',
  id: 'x',
  group: 'R1',
  role: 'R1',
  language: 'en',
  persona: '',
  world: '',
  traits: ['a', 'b', 'c', 'd'],
  styles: ['plain'],
  personality: 'ISTJ',
  candidates: { traits: ['a', 'b', 'c', 'd'], styles: ['plain'] },
  choices: [],
  answer: 'B',
  partner: { name: 'P', description: '' },
  scene: '',
  emotions: [3, 0, 0, 1, 2, 7],
  relationship: 7,
};

const output = { system: null, utterances: [], answers: [] };

function scoredWith(
  parser: 'strict' | 'tolerant',
  replies: readonly (readonly [Partial<Meeting>, object])[],
): ScoredSample[] {
  const config = autoRpConfigSchema.parse({
    data: 'x',
    agent: 'x',
    parser,
    candidates: 'own',
    judge: { url: 'x', model: 'judge' },
  });
  return replies.map(([more, reply], at) => {
    const facts = { ...meeting, ...more, id: String(at) };
    const text = JSON.stringify(reply);
    const verdict = (ask: string): Verdict => ({
      state: autoRp.isReadable(ask, text, facts, config) ? 'answered' : 'unreadable',
      text,
    });
    return { id: facts.id, group: facts.group, scores: autoRp.score(facts, output, { config, verdict }) };
  });
}

describe('AutoRPEval', () => {
  it('measures the distance of emotions and closeness as a share of the scale', () => {
    expect(nmape([3, 0, 0, 1, 2, 7], [5, 0, 1, 1, 0, 8])).toBeCloseTo(0.1, 12);
    expect(nmape([7], [4.5])).toBe(0.25);
  });

  it('gives the golden figures: personality as a mean over roles, traits as a mean over conversations', () => {
    const samples = scoredWith('tolerant', [
      [{ group: 'R1' }, { personality: 'ISTJ', character: 'a, b, c' }],
      [{ group: 'R1' }, { personality: 'INTJ', character: 'a, b' }],
      [
        { group: 'R2', personality: 'ENFP' },
        { personality: 'ESFP', character: 'a,b,c,d' },
      ],
    ]);
    const row = rowOf(samples, { metrics: autoRp.metrics, averages: autoRp.averages, seed: 1 });
    expect(row.get('personality')).toMatchObject({ value: 0.8125, sem: 0.0625, n: 3 });
    expect(row.get('character')).toMatchObject({ value: 0.75, n: 3 });
    expect(row.get('character')?.sem).toBeCloseTo(0.1443, 4);
    // No emotion could be read, so there is no average either.
    expect(row.get('emotion')).toMatchObject({ value: null, n: 0, of: 3 });
    expect(row.get('average')?.value).toBeNull();
  });

  it('reproduces every average of the paper from the five metrics beside it', () => {
    const file = path.join(import.meta.dirname, '../../../eval/autorp/paper-tables.json');
    const tables = JSON.parse(readFileSync(file, 'utf8')) as {
      table: string;
      rows: { system: string; values: Record<string, number> }[];
    }[];
    const [average] = autoRp.averages;
    const rows = tables.flatMap(({ table, rows: each }) => each.map((row) => ({ table, ...row })));
    expect(rows).toHaveLength(26);
    for (const { table, system, values } of rows) {
      const own = average?.of(average.needs.map((need) => values[need] ?? Number.NaN)) ?? Number.NaN;
      // Table 3 has one digit and cuts; the others have two and round.
      const slack = table === 'Table 3' ? 0.001 : 0.00011;
      expect({ system, isNear: Math.abs(own - (values['average'] ?? 0)) < slack }).toEqual({ system, isNear: true });
    }
  });

  it('counts an unreadable verdict as a no only by the rules of the released code', () => {
    const value = (parser: 'strict' | 'tolerant'): unknown =>
      scoredWith(parser, [[{}, { nothing: true }]])[0]?.scores.find(({ name }) => name === 'coherence')?.value;
    expect(value('strict')).toBe(0);
    expect(value('tolerant')).toBeNull();
  });

  it('measures recall and precision of labels, so that naming all candidates no longer gives the best score', () => {
    expect(recall(['a', 'b'], ['a', 'b', 'x', 'y'])).toBe(1);
    expect(precision(['a', 'b'], ['a', 'b', 'x', 'y'])).toBe(0.5);
    expect(precision(['a'], [])).toBe(0);
    expect(letterMatch('ENFP', 'ESFP')).toBe(0.75);
  });

  it.each([
    ['So {"character": "Brave, KIND"}', ['brave', 'kind'], ['brave', 'kind']],
    ["Well.\n{'character': 'kind'}", ['kind'], ['kind']],
    ['{"character": ["brave"]}', ['brave'], undefined],
    ['{"character": "brave"} {"note": "done"}', ['brave'], undefined],
    ['{"character": "cruel"}', [], []],
    ['I see bravery.', undefined, undefined],
  ])('reads the labels of %j', (text, tolerant, strict) => {
    expect(labelsIn(text, 'character', ['brave', 'kind'], 'tolerant')).toEqual(tolerant);
    expect(labelsIn(text, 'character', ['brave', 'kind'], 'strict')).toEqual(strict);
  });

  it('reads scores, types, choices and truths, and nothing out of their range', () => {
    const six = '{"happiness": 1, "sadness": "2", "disgust": 3, "fear": 4, "surprise": 5.9, "anger": 6}';
    expect(emotionsIn(six, 'en', 'tolerant')).toEqual([1, 2, 3, 4, 5.9, 6]);
    expect(emotionsIn(six, 'en', 'strict')).toEqual([1, 2, 3, 4, 5, 6]);
    expect(
      emotionsIn('{"快乐": 1, "悲伤": 2, "厌恶": 3, "恐惧": 4, "惊讶": 5, "愤怒": 6}', 'en', 'tolerant'),
    ).toHaveLength(6);
    expect(emotionsIn('{"happiness": 11, "sadness": 0}', 'en', 'tolerant')).toBeUndefined();
    expect(relationshipIn('{"relationship": "7/10"}', 'tolerant')).toBe(7);
    expect(relationshipIn('{"relationship": "7/10"}', 'strict')).toBeUndefined();
    expect(relationshipIn('{"relationship": 12}', 'tolerant')).toBeUndefined();
    expect(personalityIn('{"personality": "intj (introverted)"}', 'tolerant')).toBe('INTJ');
    expect(personalityIn('{"personality": "IN"}', 'strict')).toBe('IN');
    expect(personalityIn('{"personality": "XNTJ"}', 'strict')).toBeUndefined();
    expect(choiceIn('{"answer": "b. Ada"}', 'tolerant')).toBe('B');
    expect(choiceIn('{"answer": "b. Ada"}', 'strict')).toBeUndefined();
    expect(truthIn('{"is_coherent": true}', 'is_coherent', 'tolerant')).toBe(true);
    expect(truthIn('{"is_coherent": true}', 'is_coherent', 'strict')).toBeUndefined();
    expect(truthIn('{"is_coherent": "false"}', 'is_coherent', 'strict')).toBe(false);
  });

  it('masks every candidate, first names too, and no part of another word', () => {
    expect(
      maskNames('Tyrion Lannister met Ty; Tyrionic Jon-Snow laughs at Jon.', ['Tyrion Lannister', 'Jon Snow'], 'en'),
    ).toBe('[Role] met Ty; Tyrionic [Role]-[Role] laughs at [Role].');
    expect(maskNames('胡一菲说，一菲来了。', ['胡一菲', '刘备'], 'zh')).toBe('[角色]说，[角色]来了。');
  });

  it('compares the judge with people by the cosine of their labels', () => {
    expect(vectorOf('character', ['a', 'c'], meeting)).toEqual([1, 0, 1, 0]);
    expect(vectorOf('personality', 'ISTJ', meeting)).toEqual([0, 1, 0, 0]);
    expect(vectorOf('role-choice', 'C', meeting)).toEqual([0, 0, 1, 0]);
    expect(cosine([1, 0, 1, 0], [1, 0, 0, 0])).toBeCloseTo(Math.SQRT1_2, 12);
    expect(cosine([0, 0], [0, 0])).toBe(1);
    expect(cosine([0, 0], [1, 0])).toBe(0);
  });
});
