import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseCsv } from '../../eval/csv.ts';
import { openJudgeServer } from '../fakes/servers/judge-server.ts';
import { v1ResultFile } from './golden-coriolanus.ts';
import { makeJudgedSet } from './judged-set.ts';
import { evaluate, runOf } from '../rigs/eval-rig.ts';
import { openScratch } from './scratch.ts';

describe('dramatis eval', () => {
  it('`dramatis eval` lists its commands, and each has help', async () => {
    expect(await evaluate([])).toMatchObject({ status: 2, printed: expect.stringContaining('judge-check') });
    expect(await evaluate(['nonsense'])).toMatchObject({ status: 2, printed: expect.stringContaining('nonsense') });
    for (const name of [
      'run',
      'resume',
      'rescore',
      'compare',
      'report',
      'export',
      'score',
      'data',
      'agreement',
      'judge-check',
    ]) {
      const { status, printed } = await evaluate([name, '--help']);
      expect(status).toBe(0);
      expect(printed).toContain(`eval ${name}`);
      expect(printed.split('\n').filter((line) => line.length > 80)).toEqual([]);
    }
  });

  it.each([
    [['run'], '--out is required'],
    [['run', '--out', 'x'], '--data is required'],
    [['run', '--data', '/nowhere', '--out', 'x', '--judge', 'http://localhost'], '--judge-model is required'],
    [['run', '--data', '/nowhere', '--out', 'x', '--protocol', 'v3'], 'Invalid configuration'],
    [['run', '--data', '/nowhere', '--out', 'x', '--speed', 'fast'], '--speed must be a number'],
    [['run', '--nonsense'], 'nonsense'],
    [['rescore'], 'the folder of one run'],
    [['compare', 'one'], 'two runs'],
    [['score'], '--results is required'],
    [['data', 'look', 'x'], 'eval data check DIR'],
    [['agreement'], '--human and --judge are required'],
    [['judge-check'], '--data, --out and --judge are required'],
  ])('`dramatis eval` explains what is wrong with %j', async (args, message) => {
    expect(await evaluate(args)).toMatchObject({ status: 2, printed: expect.stringContaining(message) });
  });

  it('`eval score` scores published result files', async () => {
    await using scratch = await openScratch();
    const folder = path.join(scratch.path, 'multi');
    await mkdir(folder);
    await writeFile(path.join(folder, 'Coriolanus.json'), v1ResultFile());
    const { status, printed } = await evaluate(['score', '--results', scratch.path]);
    expect(status).toBe(0);
    expect(printed).toContain('protocol v1');
    expect(printed).toMatch(/mean-of-ratios .*0\.9147/);
    expect(printed).toMatch(/ratio-of-sums .*0\.8804/);
    const json = JSON.parse((await evaluate(['score', '--results', folder, '--json'])).printed) as {
      groups: { row: { overall: { value: number; low: null } } }[];
    };
    expect(json.groups[0]?.row.overall).toMatchObject({ value: expect.closeTo(0.9147, 4), low: null });
  });

  it('`eval export` writes what appendix B needs, and `eval agreement` computes it', async () => {
    await using scratch = await openScratch();
    const set = await makeJudgedSet(scratch.path, 3);
    await using judge = await openJudgeServer();
    const [a, b] = ['a', 'b'].map((name) => path.join(scratch.path, name)) as [string, string];
    await evaluate(runOf(set, judge.url, a, ['--protocol', 'v2', '--name', 'A']));
    await evaluate(runOf(set, judge.url, b, ['--protocol', 'v1', '--name', 'B']));
    for (const run of [a, b]) await evaluate(['export', run, '--format', 'csv']);
    const rows = parseCsv(await readFile(path.join(a, 'results.csv'), 'utf8'));
    expect(rows).toHaveLength(12 * 8);
    const others = parseCsv(await readFile(path.join(b, 'results.csv'), 'utf8'));
    // Annotators who always agree with the judge.
    const verdicts = rows.map((row, at) => {
      const [one, two] = [Number(row['ratio']), Number(others[at]?.['ratio'])];
      const verdict = one > two ? 'win' : one < two ? 'lose' : 'tie';
      return `${row['sample']},A,B,${row['metric']},p1,${verdict}`;
    });
    const human = path.join(scratch.path, 'human.csv');
    await writeFile(human, `sample,first,second,metric,annotator,verdict\n${verdicts.join('\n')}\n`);
    const judged = [a, b].map((run) => path.join(run, 'results.csv')).join(',');
    const { status, printed } = await evaluate(['agreement', '--human', human, '--judge', judged, '--json']);
    expect(status).toBe(0);
    const [first] = JSON.parse(printed) as { metric: string; n: number; accuracy: number; pearson: number }[];
    expect(first).toMatchObject({ metric: 'IA', n: 12, accuracy: 1 });
    expect(first?.pearson).toBeGreaterThan(0.5);
    await evaluate(['export', a, '--format', 'latex']);
    expect(await readFile(path.join(a, 'table.tex'), 'utf8')).toMatch(/\\toprule[\s\S]*Chinese &[\s\S]*\\bottomrule/);
    expect(await evaluate(['export', a, '--format', 'pdf'])).toMatchObject({ status: 2 });
  });

  it('`eval export` writes replies in SpeechRole’s form, and they can be judged again', async () => {
    await using scratch = await openScratch();
    const set = await makeJudgedSet(scratch.path, 2);
    await using judge = await openJudgeServer();
    const at = (name: string): string => path.join(scratch.path, name);
    await evaluate(runOf(set, judge.url, at('first'), ['--protocol', 'v1']));
    const exported = at('elsewhere/model_output/ours');
    const { printed } = await evaluate(['export', at('first'), '--format', 'outputs', '--out', exported]);
    expect(printed).toContain('8 dialogues');
    await evaluate(runOf({ data: set.data, outputs: exported }, judge.url, at('again'), ['--protocol', 'v1']));
    expect(await readFile(at('again/results.json'), 'utf8')).toBe(await readFile(at('first/results.json'), 'utf8'));
  });

  it('`eval run` may use a folder in which an earlier start failed', async () => {
    await using scratch = await openScratch();
    const set = await makeJudgedSet(scratch.path, 1);
    await using judge = await openJudgeServer();
    const out = path.join(scratch.path, 'run');
    const more = ['--protocol', 'v2'];
    const nowhere = { ...set, data: path.join(scratch.path, 'nowhere') };
    expect(await evaluate(runOf(nowhere, judge.url, out, more))).toMatchObject({ status: 1 });
    await writeFile(path.join(out, 'log.jsonl'), '{"event":"run","log":1,"a');
    expect(await evaluate(runOf(set, judge.url, out, more))).toMatchObject({ status: 0 });
  });

  it('`eval resume` refuses a run whose data has changed', async () => {
    await using scratch = await openScratch();
    const set = await makeJudgedSet(scratch.path, 2);
    await using judge = await openJudgeServer();
    const out = path.join(scratch.path, 'run');
    await evaluate(runOf(set, judge.url, out, ['--protocol', 'v2']));
    const file = path.join(set.data, 'test_data/single_turn/hutao.json');
    await writeFile(file, (await readFile(file, 'utf8')).replace('As I always say', 'Something else'));
    expect(await evaluate(['resume', out])).toMatchObject({
      status: 1,
      printed: expect.stringContaining('data has changed'),
    });
    expect(await evaluate(runOf(set, judge.url, out))).toMatchObject({
      status: 1,
      printed: expect.stringContaining('eval resume'),
    });
  });
});
