import { describe, expect, it } from 'vitest';
import { gradeIn, nameIn, refusalIn } from '../../../eval/wikirole/grammar.ts';
import { wikiRole, wikiRoleSchema } from '../../../eval/wikirole/task.ts';
import type { WikiRoleFacts } from '../../../eval/wikirole/test-set.ts';
import { rowOf, type ScoredSample } from '../../../eval/text/rows.ts';
import type { Verdict } from '../../../eval/text/text-task.ts';

/** Replies of a judge by question, of which those of an absent key do not exist. */
type Replies = Readonly<Record<string, string>>;

function factsOf(role: string, language: 'en' | 'zh', labels: readonly number[]): WikiRoleFacts {
  return {
    id: role,
    group: role,
    role,
    language,
    system: `You are ${role}.`,
    prompts: labels.map((_, at) => `question ${at}`),
    candidates: [role, 'X', 'Y', 'Z'],
    labels,
    evidence: labels.map(() => 'a fact'),
    summary: '',
    profile: '',
    checkedBy: null,
  };
}

const named = (name: string): string => `Because.\nThe most suitable role is [${name}].`;
const roleA = factsOf('A', 'en', [1, 0]);
const roleB = factsOf('B', 'zh', [0]);
const golden: readonly (readonly [WikiRoleFacts, Replies])[] = [
  [
    roleA,
    {
      'identity/0/0': named('A'),
      'identity/0/1': named('A'),
      'identity/0/2': named('X'),
      'refusal/0/0': '1',
      'refusal/0/1': '1',
      'refusal/0/2': '0',
      'knowledge/0/0': 'Good.\n7',
      'knowledge/0/1': 'Good.\n8',
      'knowledge/0/2': 'Good.\n9',
      'identity/1/0': 'I cannot tell.',
      'identity/1/1': named('A'),
      'identity/1/2': named('A'),
      'refusal/1/0': '0',
      'refusal/1/1': '0 ',
      'refusal/1/2': '1',
      'knowledge/1/0': 'So so.\n3',
      'knowledge/1/1': 'So so.\n4',
      'knowledge/1/2': 'So so.\n5',
    },
  ],
  [
    roleB,
    {
      'identity/0/0': '不知道',
      'identity/0/1': '不知道',
      'identity/0/2': '不知道',
      'refusal/0/0': '1',
      'knowledge/0/0': '全错。\n0',
      'knowledge/0/1': '全错。\n0',
      'knowledge/0/2': '全错。\n0',
    },
  ],
];

function scored(parser: 'strict' | 'tolerant'): ScoredSample[] {
  const judge = { url: 'x', model: 'judge' };
  const config = wikiRoleSchema.parse({ data: 'x', agent: 'x', parser, judge });
  return golden.map(([facts, replies]) => {
    const verdict = (ask: string): Verdict => {
      const text = replies[ask];
      if (text === undefined) return { state: 'failed', text: '' };
      return { state: wikiRole.isReadable(ask, text, facts, config) ? 'answered' : 'unreadable', text };
    };
    const answer = { text: 'an answer', heard: null, audio: null, firstAudioMs: null, fallback: null };
    const output = { system: null, answers: facts.prompts.map(() => answer) };
    return { id: facts.id, group: facts.group, scores: wikiRole.score(facts, output, { config, verdict }) };
  });
}

describe('WikiRoleEval', () => {
  it('gives the golden figures by the rules of the released code', () => {
    const all = scored('strict');
    const options = { metrics: wikiRole.metrics, averages: [], seed: 1 };
    const figures = (samples: readonly ScoredSample[]) => {
      const row = rowOf(samples, options);
      return ['consistency', 'rejection', 'knowledge'].map((key) => row.get(key)?.value ?? null);
    };
    expect(figures(all)).toEqual([expect.closeTo(0.5556, 4), expect.closeTo(0.6667, 4), 6]);
    expect(figures(all.slice(0, 1))).toEqual([expect.closeTo(0.8333, 4), 1, 6]);
    expect(figures(all.slice(1))).toEqual([0, 0, null]);
  });

  it('leaves a turn without a score where no reply can be read, and counts it', () => {
    const all = scored('tolerant');
    const row = rowOf(all, { metrics: wikiRole.metrics, averages: [], seed: 1 });
    expect(row.get('consistency')).toMatchObject({ value: expect.closeTo(0.8333, 4), n: 2, of: 3 });
    expect(row.get('rejection')).toMatchObject({ value: expect.closeTo(0.6667, 4), n: 3 });
    expect(row.get('knowledge')).toMatchObject({ value: 6, n: 2, of: 3 });
    expect(row.get('recall')).toMatchObject({ value: 1, n: 1 });
    expect(row.get('precision')).toMatchObject({ value: 0.5, n: 2 });
    const lost = all[1]?.scores.find(({ name }) => name === 'knowledge');
    expect(lost).toMatchObject({ value: null, why: 'judge: unreadable' });
  });

  it.each([
    ['The most suitable role is [**Hamlet**].', 'Hamlet'],
    ['I weigh [Macbeth] and [hamlet].', 'Hamlet'],
    ['最符合的角色为[“Hamlet”]。', 'Hamlet'],
    ['**The most suitable role is Macbeth.**', 'Macbeth'],
    ['The most suitable role is [Nobody].', undefined],
  ])('reads the name in %j', (text, name) => {
    expect(nameIn(text, ['Hamlet', 'Macbeth'], 'tolerant')).toBe(name);
  });

  it('reads digits and grades in the forms that judges write', () => {
    expect(['1', ' 0\n', '**1**', '答案：0', '10', 'yes'].map((text) => refusalIn(text, 'tolerant'))).toEqual([
      1,
      0,
      1,
      0,
      undefined,
      undefined,
    ]);
    expect(['x\n8', 'x\n8/10', 'x\n8.5', '评分：8', 'Score: 7\n'].map((text) => gradeIn(text, 'tolerant'))).toEqual([
      8, 8, 8.5, 8, 7,
    ]);
    expect(['x\n8', 'x\n8/10', 'x\nScore: 8', '8.5'].map((text) => gradeIn(text, 'strict'))).toEqual([
      8,
      undefined,
      8,
      undefined,
    ]);
  });
});
