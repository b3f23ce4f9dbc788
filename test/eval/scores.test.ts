import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { leaderboard, paperRows, paperTables } from '../../eval/speechrole/summary/leaderboard.ts';
import { metricKeys } from '../../eval/speechrole/judging/metrics.ts';
import { readResults } from '../../eval/speechrole/summary/results.ts';
import { paperRoles } from '../../eval/speechrole/data/test-data.ts';
import { compareRuns, scoreRow } from '../../eval/speechrole/summary/score-table.ts';
import { aggregate, overallOf, type Aggregation, type JudgedSample } from '../../eval/speechrole/judging/scores.ts';
import { fewClustersNote, seededRandom } from '../../eval/statistics.ts';
import { v1ResultFile, v2ResultFile } from './golden-coriolanus.ts';
import { openScratch } from './scratch.ts';

const seeded = { seed: 1, resamples: 500 };

async function resultsOf(text: string): Promise<Awaited<ReturnType<typeof readResults>>> {
  await using scratch = await openScratch();
  const folder = path.join(scratch.path, 'test_results/ali cloud/multi');
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'Coriolanus.json'), text);
  return readResults(scratch.path);
}

function rounded(samples: readonly JudgedSample[], aggregation: Aggregation): number[] {
  const row = scoreRow(samples, { aggregation, ...seeded });
  return [...metricKeys.map((metric) => row.metrics[metric]), row.overall].map(({ value }) =>
    Number(value?.toFixed(4)),
  );
}

describe('scores of published results', () => {
  it('scores equal the golden vectors of the first judge', async () => {
    const { protocols, samples } = await resultsOf(v1ResultFile());
    expect(protocols).toEqual(['v1']);
    expect(samples.map(({ id }) => id)).toEqual(['multi/Coriolanus/0', 'multi/Coriolanus/1']);
    expect(rounded(samples, 'mean-of-ratios')).toEqual([1.075, 0.7222, 1.1643, 0.6667, 0.5, 1, 1.075, 1.1143, 0.9147]);
    expect(rounded(samples, 'ratio-of-sums')).toEqual([
      1.0556, 0.7222, 1.1176, 0.6667, 0.5, 0.8667, 1.0556, 1.0588, 0.8804,
    ]);
  });

  it('scores equal the golden vectors of the second judge', async () => {
    const { protocols, samples } = await resultsOf(v2ResultFile());
    expect(protocols).toEqual(['v2']);
    const expected = [1, 0.8889, 0.95, 0.7778, 0.8889, 0.8333, 0.8, 0.9, 0.8799];
    expect(rounded(samples, 'mean-of-ratios')).toEqual(expected);
    expect(rounded(samples, 'ratio-of-sums')).toEqual(expected);
  });

  it('results of several systems at once are refused, not mixed', async () => {
    await using scratch = await openScratch();
    for (const system of ['one', 'other']) {
      await mkdir(path.join(scratch.path, system, 'multi'), { recursive: true });
      await writeFile(path.join(scratch.path, system, 'multi', 'Thor.json'), v2ResultFile());
    }
    await expect(readResults(scratch.path)).rejects.toThrow('Give the folder of one system');
  });

  it('files that are not results are reported by name, and the others are kept', async () => {
    await using scratch = await openScratch();
    await writeFile(path.join(scratch.path, 'Thor.json'), v2ResultFile());
    await writeFile(path.join(scratch.path, 'broken.json'), '{"no": "list"}');
    const { samples, problems } = await readResults(scratch.path);
    expect(samples.map(({ role, mode }) => [role, mode])).toEqual([
      ['Thor', 'single'],
      ['Thor', 'single'],
    ]);
    expect(problems).toEqual([expect.stringContaining('broken.json')]);
    await expect(readResults(path.join(scratch.path, 'nowhere'))).rejects.toMatchObject({ code: 'eval_data' });
  });
});

describe('tables of the paper', () => {
  it.each([...paperTables.table2, ...paperTables.table3])(
    'the overall score of $system in $language is $overall',
    ({ values, overall }) => {
      // Printed with four decimals each, so the mean of eight is known to within half a unit of the last digit.
      expect(Math.abs((overallOf(values) as number) - overall)).toBeLessThan(0.000_101);
    },
  );

  it('the tables of the paper have all rows and all roles', () => {
    expect([paperTables.table2.length, paperTables.table3.length]).toEqual([22, 8]);
    const roles = Object.values(paperRoles);
    expect(roles).toHaveLength(98);
    expect(roles.filter(({ language }) => language === 'zh')).toHaveLength(16);
    expect(roles.filter(({ split }) => split === 'dev')).toHaveLength(20);
  });

  it('the tables of the paper are not shown with runs that were judged differently', () => {
    const [paper] = paperRows('table2');
    const ours = { ...(paper as NonNullable<typeof paper>), system: 'ours', protocol: 'dramatis', judge: 'qwen' };
    const tables = leaderboard([...paperRows('table2'), ours]);
    expect(tables.map(({ rows }) => rows.length)).toEqual([11, 11, 1]);
    expect(tables[2]?.heading).toContain('protocol dramatis · judge qwen');
    expect(tables[0]?.rows[0]?.system).toBe('E2 TTS');
  });
});

/** Made-up judged dialogues: four per role, the test scored around `share` of a reference of 8. */
function madeUp(roles: number, share: number, seed: number): JudgedSample[] {
  const random = seededRandom(seed);
  return Array.from({ length: roles * 4 }, (_, index) => {
    const role = `role ${Math.floor(index / 4)}`;
    return {
      id: `single/${role}/${index % 4}`,
      role,
      language: 'en',
      mode: 'single',
      domain: 'in',
      category: null,
      scores: Object.fromEntries(
        metricKeys.map((metric) => [metric, { test: 8 * share + (random() - 0.5), reference: 8 }]),
      ),
    };
  });
}

describe('scores', () => {
  it('unscored and failed samples are counted, and never as 0', () => {
    const [first, second, third] = madeUp(3, 0.5, 1).filter((_, index) => index % 4 === 0);
    const samples = [
      first,
      { ...second, scores: { ...second?.scores, Speech_Fluency: null } },
      { ...third, scores: { Speech_Fluency: { test: 8, reference: 8 } } },
    ] as JudgedSample[];
    const row = scoreRow(samples, { aggregation: 'mean-of-ratios', ...seeded });
    expect(row.metrics.Speech_Fluency).toMatchObject({ n: 2, unscored: 1, failed: 0 });
    expect(row.metrics.Speech_Naturalness).toMatchObject({ n: 2, unscored: 0, failed: 1 });
    expect(row.metrics.Speech_Fluency.value).toBeGreaterThan(0.7);
    const nothing = scoreRow([], { aggregation: 'mean-of-ratios', ...seeded });
    expect(nothing.overall).toMatchObject({ value: null, low: null, high: null });
    expect(aggregate([{ test: 5, reference: 0 }], 'mean-of-ratios')).toBeNull();
    expect(overallOf([1, 1, 1, 1, 1, 1, 1, null])).toBeNull();
  });

  it('confidence intervals cover the truth about as often as they should', () => {
    let held = 0;
    for (let seed = 0; seed < 100; seed += 1) {
      const { overall } = scoreRow(madeUp(20, 0.8, seed + 10), { aggregation: 'mean-of-ratios', seed, resamples: 300 });
      if ((overall.low as number) <= 0.8 && (overall.high as number) >= 0.8) held += 1;
    }
    expect(held).toBeGreaterThan(84);
    expect(held).toBeLessThan(100);
  });

  it('there are no intervals and no p values below five roles', () => {
    const how = { aggregation: 'mean-of-ratios', ...seeded } as const;
    expect(scoreRow(madeUp(4, 0.7, 3), how).overall).toMatchObject({ low: null, high: null });
    expect(scoreRow(madeUp(5, 0.7, 3), how).overall.low).not.toBeNull();
    for (const each of compareRuns(madeUp(4, 0.7, 1), madeUp(4, 0.9, 2), how))
      expect(each).toMatchObject({ low: null, high: null, p: null });
  });

  it('intervals of five to nine roles carry a note, and others do not', () => {
    expect([4, 5, 9, 10].map((roles) => fewClustersNote(roles, 'roles').length)).toEqual([0, 1, 1, 0]);
    expect(fewClustersNote(7, 'roles')).toEqual(['Intervals come from only 7 roles: they are too narrow.']);
  });

  it('scores do not depend on the order of dialogues', () => {
    const samples = madeUp(10, 0.7, 3);
    const how = { aggregation: 'mean-of-ratios', ...seeded } as const;
    const [one, other] = [scoreRow(samples, how), scoreRow(samples.toReversed(), how)];
    expect(one.overall.low).toBeCloseTo(other.overall.low as number, 10);
  });

  it('two runs are compared by their differences on the same dialogues', () => {
    const a = madeUp(20, 0.7, 1);
    const b = madeUp(20, 0.75, 2).slice(0, 60);
    const differences = compareRuns(a, b, { aggregation: 'mean-of-ratios', ...seeded });
    expect(differences).toHaveLength(9);
    const overall = differences.at(-1);
    expect(overall?.n).toBe(60);
    expect(overall?.difference).toBeCloseTo(0.05, 1);
    expect(overall?.low).toBeGreaterThan(0);
    expect(overall?.p).toBeLessThan(0.05);
    const same = compareRuns(a, a, { aggregation: 'mean-of-ratios', ...seeded });
    for (const each of same) expect(each).toMatchObject({ difference: 0, p: 1 });
  });
});
