import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseCsv } from '../../eval/csv.ts';
import { openOutputs } from '../../eval/agents/stored-agent.ts';
import { readTestData } from '../../eval/speechrole/data/test-data.ts';
import { metricKeys } from '../../eval/speechrole/judging/metrics.ts';
import { readRun } from '../../eval/speechrole/run-view.ts';
import { readResults } from '../../eval/speechrole/summary/results.ts';
import { openJudgeServer } from '../fakes/servers/judge-server.ts';
import { v1ResultFile } from './golden-coriolanus.ts';
import { makeJudgedSet } from './judged-set.ts';
import { evaluate, runOf } from '../rigs/eval-rig.ts';
import { openScratch } from './scratch.ts';

describe('dramatis eval', () => {
  it('`dramatis eval` lists its commands, and each has help', async () => {
    expect(await evaluate([])).toMatchObject({ status: 2, printed: expect.stringContaining('judge-check') });
    expect(await evaluate(['nonsense'])).toMatchObject({ status: 2, printed: expect.stringContaining('nonsense') });
    const tasks = ['rolebench', 'wikirole', 'autorp', 'coser'].flatMap((task) => [
      ['run', '--task', task],
      ['judge-check', '--task', task],
    ]);
    const commands = [
      'run',
      'resume',
      'rescore',
      'compare',
      'report',
      'export',
      'score',
      'data',
      'rouge',
      'rolebench',
      'agreement',
      'judge-check',
      'cross',
      'leaderboard',
    ].map((name) => [name]);
    for (const command of [...commands, ...tasks]) {
      const { status, printed } = await evaluate([...command, '--help']);
      expect(status).toBe(0);
      expect(printed).toContain(`eval ${command[0]}`);
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
    [['run', '--task', 'nonsense'], '--task must be speechrole'],
    [['run', '--task=speechrole'], '--out is required'],
    [['rescore'], 'the folder of one run'],
    [['compare', 'one'], 'two runs'],
    [['score'], '--results is required'],
    [['data', 'look', 'x'], 'eval data check DIR'],
    [['agreement'], '--human and --judge are required'],
    [['judge-check'], '--data, --out and --judge are required'],
  ])('`dramatis eval` explains what is wrong with %j', async (args, message) => {
    expect(await evaluate(args)).toMatchObject({ status: 2, printed: expect.stringContaining(message) });
  });

  it('`eval run` measures no model that was not named, such as one that OpenAI ends on 2027-01-20', async () => {
    await using scratch = await openScratch();
    const set = await makeJudgedSet(scratch.path, 1);
    await using judge = await openJudgeServer();
    const where = ['--data', set.data, '--out', path.join(scratch.path, 'run'), '--protocol', 'v2'];
    const whom = ['--judge', `${judge.url}/v1`, '--judge-model', 'ear', '--agent'];
    const agent = 'openai-realtime:ws://127.0.0.1:9/v1/realtime';
    const { status, printed } = await evaluate(['run', ...where, ...whom, agent]);
    expect(status).not.toBe(0);
    expect(printed).toContain('?model=');
  });

  it('`eval data check` counts the dialogues of SpeechRole that are complete, and what is missing is status 1', async () => {
    await using scratch = await openScratch();
    const { data } = await makeJudgedSet(scratch.path, 2);
    const checked = await evaluate(['data', 'check', data]);
    expect(checked).toMatchObject({ status: 1, printed: expect.stringMatching(/8\D+392/) });
    expect(await evaluate(['data', 'check', '/nowhere'])).toMatchObject({ status: 1 });
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
    // With `--out -` the result alone goes to standard output.
    const toOutput = (...command: string[]) => evaluate([...command, '--out', '-']);
    const latex = await readFile(path.join(a, 'table.tex'), 'utf8');
    expect(await toOutput('export', a, '--format', 'latex')).toMatchObject({ status: 0, printed: '', written: latex });
    const report = await toOutput('report', a);
    expect(report).toMatchObject({ status: 0, printed: '', written: expect.stringMatching(/^<!doctype html>/) });
    expect(await toOutput('export', a, '--format', 'results')).toMatchObject({ status: 2, written: '' });
  });

  it('`eval export` writes replies in SpeechRole’s form, and they can be judged again', async () => {
    await using scratch = await openScratch();
    const set = await makeJudgedSet(scratch.path, 2);
    await using judge = await openJudgeServer();
    const at = (name: string): string => path.join(scratch.path, name);
    await evaluate(runOf(set, judge.url, at('first'), ['--protocol', 'v1']));
    // No folder is called model_output in advance: the paths in the files begin with it.
    const { printed } = await evaluate(['export', at('first'), '--format', 'outputs', '--out', at('elsewhere')]);
    const exported = at('elsewhere/model_output/first');
    expect(printed).toContain(exported);
    expect(printed).toContain('8 dialogues');
    await evaluate(runOf({ data: set.data, outputs: exported }, judge.url, at('again'), ['--protocol', 'v1']));
    expect(await readFile(at('again/results.json'), 'utf8')).toBe(await readFile(at('first/results.json'), 'utf8'));
  });

  it('every form of `eval export` can be read back', async () => {
    await using scratch = await openScratch();
    const set = await makeJudgedSet(scratch.path, 2);
    await using judge = await openJudgeServer();
    const [out, made] = [path.join(scratch.path, 'run'), path.join(scratch.path, 'made')];
    await evaluate(runOf(set, judge.url, out, ['--protocol', 'v1']));
    const exportTo = async (format: string, name: string): Promise<string> => {
      expect(await evaluate(['export', out, '--format', format, '--out', path.join(made, name)])).toMatchObject({
        status: 0,
      });
      return path.join(made, name);
    };
    const view = await readRun(out);
    const rows = parseCsv(await readFile(await exportTo('csv', 'a.csv'), 'utf8'));
    expect(rows.map(({ sample }) => sample)).toEqual(view.judged.flatMap(({ id }) => metricKeys.map(() => id)));
    expect(JSON.parse(await readFile(await exportTo('json', 'a.json'), 'utf8'))).toMatchObject({ samples: 8 });
    const { samples } = await readResults(await exportTo('results', 'results'));
    expect(new Map(samples.map(({ id, scores }) => [id, scores]))).toEqual(
      new Map(view.judged.map(({ id, scores }) => [id, scores])),
    );
    const outputs = await openOutputs(path.join(await exportTo('outputs', ''), 'model_output', 'run'));
    const { samples: dialogues } = await readTestData(set.data);
    for (const { id, input } of dialogues) {
      const answers = await outputs.answersTo(input);
      expect(answers.map(({ text }) => text)).toEqual(view.outputOf(id)?.answers.map(({ text }) => text));
      for (const [at, { speech }] of answers.entries())
        expect(await readFile(speech)).toEqual(await view.audio.read(view.outputOf(id)?.answers[at]?.audio ?? ''));
    }
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

  it('`eval resume` refuses a run whose recordings have changed, though size and texts are the same', async () => {
    await using scratch = await openScratch();
    const set = await makeJudgedSet(scratch.path, 1);
    await using judge = await openJudgeServer();
    const out = path.join(scratch.path, 'run');
    await evaluate(runOf(set, judge.url, out, ['--protocol', 'v2', '--mode', 'single']));
    expect(await evaluate(['resume', out])).toMatchObject({ status: 0 });
    const { samples } = await readTestData(set.data);
    const recordings = samples.map(({ target }) => target.turns[0]?.speech ?? '');
    const change = async (file = ''): Promise<void> => writeFile(file, (await readFile(file)).toReversed());
    // Dialogues that the run does not use may change.
    await change(recordings[samples.findIndex(({ input }) => input.mode === 'multi')]);
    expect(await evaluate(['resume', out])).toMatchObject({ status: 0 });
    await change(recordings[0]);
    expect(await evaluate(['resume', out])).toMatchObject({
      status: 1,
      printed: expect.stringContaining('data has changed'),
    });
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
