import { appendFile, cp, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { judgeDialects, type JudgeDialectName, readTemplate, fillTemplate } from '../../eval/judge/message.ts';
import { readResults } from '../../eval/speechrole/summary/results.ts';
import { readRun } from '../../eval/speechrole/run-view.ts';
import { paperTables } from '../../eval/speechrole/summary/leaderboard.ts';
import { summarizeRun } from '../../eval/speechrole/summary/summary.ts';
import { openJudgeServer, type JudgeFault } from '../fakes/servers/judge-server.ts';
import { makeJudgedSet } from './judged-set.ts';
import { evaluate, runOf } from '../rigs/eval-rig.ts';
import { openScratch } from './scratch.ts';

const dialects = Object.keys(judgeDialects) as JudgeDialectName[];

describe('judging', () => {
  it.each(['v1', 'v2', 'dramatis'])(
    'judging by protocol %s gives scores and result files that SpeechRole reads',
    async (protocol) => {
      await using scratch = await openScratch();
      const set = await makeJudgedSet(scratch.path, 3);
      await using judge = await openJudgeServer();
      const out = path.join(scratch.path, 'run');
      const { status, printed } = await evaluate(runOf(set, judge.url, out, ['--protocol', protocol]));
      expect(printed).toContain('12 of 12 dialogues answered');
      const said = printed.replaceAll(scratch.path, '');
      expect(said.split('\n').filter((line) => line.length > 80)).toEqual([]);
      expect(status).toBe(0);
      expect(judge.answered).toBe(12 * { v1: 8, v2: 1, dramatis: 16 }[protocol as 'v1']);
      const view = await readRun(out);
      const summary = summarizeRun(view);
      expect(summary.groups[0]?.row.overall).toMatchObject({ n: 12, unscored: 0, failed: 0 });
      await evaluate(['export', out, '--format', 'results', '--out', path.join(scratch.path, 'results')]);
      const { samples } = await readResults(path.join(scratch.path, 'results'));
      expect(samples.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map(({ scores }) => scores)).toEqual(
        view.judged.map(({ scores }) => scores),
      );
    },
  );

  it.each(dialects)('judging sends audio in the form of the dialect %s', async (dialect) => {
    await using scratch = await openScratch();
    const set = await makeJudgedSet(scratch.path, 1);
    await using judge = await openJudgeServer();
    const more = ['--judge-dialect', dialect, '--mode', 'multi', '--limit', '1'];
    await evaluate(runOf(set, judge.url, path.join(scratch.path, 'run'), more));
    const [, user] = (judge.requests[0]?.json()['messages'] ?? []) as { content: Record<string, unknown>[] }[];
    const parts = (user?.content ?? []).filter((part) => part['type'] !== 'text');
    const seen = JSON.stringify(parts[0]).slice(0, 80);
    expect(parts).toHaveLength(dialect === 'dashscope' ? 1 : 4);
    expect(seen).toContain(
      {
        openai: '"data":"UklGR',
        'data-url': '"data":"data:audio/wav;base64,UklGR',
        vllm: '"audio_url":{"url":"data:audio/wav;base64,UklGR',
        dashscope: '"data":"data:;base64,UklGR',
      }[dialect],
    );
    expect(judge.requests[0]?.json()['stream']).toBe(dialect === 'dashscope' ? true : undefined);
  });

  it('judging asks both orders, and counts the flips of a judge that favours the first', async () => {
    await using scratch = await openScratch();
    const set = await makeJudgedSet(scratch.path, 6);
    await using fair = await openJudgeServer();
    await using biased = await openJudgeServer({ firstBonus: 2 });
    const healthOf = async (url: string, name: string) => {
      await evaluate(runOf(set, url, path.join(scratch.path, name)));
      return summarizeRun(await readRun(path.join(scratch.path, name)));
    };
    const [a, b] = [await healthOf(fair.url, 'fair'), await healthOf(biased.url, 'biased')];
    expect(a.health).toMatchObject({ swapped: 192, flips: 0, firstWinsBoth: 0, firstAdvantage: 0 });
    expect(b.health.flips).toBeGreaterThan(10);
    expect(b.health.firstWinsBoth).toBe(b.health.flips);
    expect(b.health.secondWinsBoth).toBe(0);
    expect(b.health.firstAdvantage).toBeGreaterThan(1);
  });

  it('unreadable replies are requested again a few times; they, refusals and failures are counted, never as 0', async () => {
    await using scratch = await openScratch();
    const set = await makeJudgedSet(scratch.path, 1);
    const faultAt = (number: number, prompt: string): JudgeFault | undefined =>
      prompt.includes('Speech fluency:') ? 'refusal' : number === 0 ? 'garbled' : undefined;
    await using judge = await openJudgeServer({ faultAt });
    const out = path.join(scratch.path, 'run');
    const more = ['--protocol', 'v1', '--judge-concurrency', '1', '--limit', '1'];
    const { status } = await evaluate(runOf(set, judge.url, out, more));
    expect(status).toBe(0);
    const { health, groups } = summarizeRun(await readRun(out));
    expect(health).toMatchObject({ asked: 8, scored: 7, refused: 1, unparsed: 0, failed: 0, repeatedReplies: 3 });
    expect(groups[0]?.row.metrics.Speech_Fluency).toMatchObject({ value: null, n: 0, unscored: 1 });
    expect(groups[0]?.row.overall.value).toBeNull();
    expect(groups[0]?.row.metrics.Conversational_Coherence.value).toBeGreaterThan(0);
  });

  it('a judge error is logged as failed and requested again on resume', async () => {
    await using scratch = await openScratch();
    const set = await makeJudgedSet(scratch.path, 1);
    await using judge = await openJudgeServer();
    judge.breaks({ kind: 'status', status: 401 }, { times: 3 });
    const out = path.join(scratch.path, 'run');
    const more = ['--protocol', 'v1', '--judge-concurrency', '1', '--limit', '2'];
    const first = await evaluate(runOf(set, judge.url, out, more));
    expect(first.status).toBe(1);
    expect(first.printed).toContain('failed 3 × ENGINE_REFUSED');
    expect(summarizeRun(await readRun(out)).groups[0]?.row.overall).toMatchObject({ failed: 3 });
    const again = await evaluate(['resume', out]);
    expect(again.status).toBe(0);
    // Three replies were refusals.
    expect(judge.requests).toHaveLength(3 + 16);
  });

  it('every table says how many of the chosen dialogues are scored, and marks rows below 90 %', async () => {
    await using scratch = await openScratch();
    const set = await makeJudgedSet(scratch.path, 1);
    await using judge = await openJudgeServer();
    judge.breaks({ kind: 'status', status: 401 }, { times: 3 });
    const out = path.join(scratch.path, 'run');
    const more = ['--protocol', 'v1', '--judge-concurrency', '1', '--limit', '2'];
    const { printed } = await evaluate(runOf(set, judge.url, out, more));
    const mark = 'less than 90 % of the dialogues are scored';
    expect(printed).toMatch(new RegExp(`1/2 †[^]*† ${mark}`));
    expect((await evaluate(['leaderboard', out])).printed).toMatch(new RegExp(`1/2 †[^]*† ${mark}`));
    await evaluate(['export', out, '--format', 'latex']);
    expect(await readFile(path.join(out, 'table.tex'), 'utf8')).toContain(String.raw`1/2 \dag \\`);
    await evaluate(['report', out]);
    expect(await readFile(path.join(out, 'report.html'), 'utf8')).toMatch(/<td>1\/2 †<\/td>[^]*<small>1\/2 †<\/small>/);
    await evaluate(['resume', out]);
    expect((await evaluate(['leaderboard', out])).printed).toMatch(/2\/2\n/);
  });

  it('a schema or temperature that the server does not know is left out, with a note', async () => {
    await using scratch = await openScratch();
    const set = await makeJudgedSet(scratch.path, 1);
    await using judge = await openJudgeServer({ declines: ['response_format', 'temperature'] });
    const out = path.join(scratch.path, 'run');
    const { status } = await evaluate(runOf(set, judge.url, out, ['--limit', '2', '--judge-concurrency', '1']));
    expect(status).toBe(0);
    // Twice in vain for the first question, then never again.
    expect(judge.requests).toHaveLength(2 + 32);
    const { record } = await readRun(out);
    const [kept] =
      record.measured.get('multi/hutao/0')?.values() ?? record.measured.get('single/hutao/0')?.values() ?? [];
    expect(kept).toMatchObject({ replies: [{ without: ['response_format', 'temperature'] }] });
  });

  it('a run can be rescored from its log, strictly or tolerantly, without any call', async () => {
    await using scratch = await openScratch();
    const set = await makeJudgedSet(scratch.path, 2);
    const out = path.join(scratch.path, 'run');
    {
      await using judge = await openJudgeServer();
      await evaluate(runOf(set, judge.url, out));
    }
    const before = await readFile(path.join(out, 'results.json'), 'utf8');
    expect((await evaluate(['rescore', out])).status).toBe(0);
    expect(await readFile(path.join(out, 'results.json'), 'utf8')).toBe(before);
    const sums = await evaluate(['rescore', out, '--aggregation', 'ratio-of-sums']);
    expect(sums.printed).toContain('ratio-of-sums');
    expect((await evaluate(['rescore', out, '--parser', 'lenient'])).status).toBe(2);
  });

  it('runs judged differently are not compared', async () => {
    await using scratch = await openScratch();
    const set = await makeJudgedSet(scratch.path, 3);
    await using judge = await openJudgeServer();
    const at = (name: string): string => path.join(scratch.path, name);
    await evaluate(runOf(set, judge.url, at('a'), ['--protocol', 'v2']));
    await evaluate(runOf(set, judge.url, at('b'), ['--protocol', 'v2']));
    await evaluate(runOf(set, judge.url, at('c'), ['--protocol', 'v1']));
    expect((await evaluate(['compare', at('a'), at('b')])).printed).toContain('+0.0000');
    expect(await evaluate(['compare', at('a'), at('c')])).toMatchObject({
      status: 2,
      printed: expect.stringContaining('judged differently'),
    });
    const board = await evaluate(['leaderboard', at('a')]);
    expect(board.printed).toContain('protocol v2 · Dramatis wording · judge ear');
  });

  it.each([
    ['--repeats', '2', 'repeats (1; 2)'],
    ['--parser', 'strict', 'parser (tolerant; strict)'],
    ['--reference', 'role_speech_path', 'reference (role_speech_path1; role_speech_path)'],
    ['--aggregation', 'ratio-of-sums', 'aggregation (mean-of-ratios; ratio-of-sums)'],
    ['--prompts', '', 'prompts (dramatis.txt'],
  ])('`eval compare` names a different %s and refuses, unless told `--anyway`', async (flag, value, named) => {
    await using scratch = await openScratch();
    const set = await makeJudgedSet(scratch.path, 1);
    await using judge = await openJudgeServer();
    const at = (name: string): string => path.join(scratch.path, name);
    const prompts = at('prompts');
    await cp(path.resolve(import.meta.dirname, '../../eval/prompts'), prompts, { recursive: true });
    await appendFile(path.join(prompts, 'dramatis.txt'), 'Think twice.\n');
    const limited = ['--limit', '1', '--mode', 'single'];
    await evaluate(runOf(set, judge.url, at('a'), limited));
    await evaluate(runOf(set, judge.url, at('b'), [...limited, flag, value === '' ? prompts : value]));
    const refused = await evaluate(['compare', at('a'), at('b')]);
    expect(refused).toMatchObject({ status: 2, printed: expect.stringContaining(named) });
    const forced = await evaluate(['compare', at('a'), at('b'), '--anyway']);
    expect(forced).toMatchObject({ status: 0, printed: expect.stringContaining('NOT COMPARABLE') });
    const json = await evaluate(['compare', at('a'), at('b'), '--anyway', '--json']);
    expect(JSON.parse(json.printed)).toMatchObject({ differs: [expect.stringContaining(named)] });
  });

  it('`eval compare` names another model that really answered, though the same was asked', async () => {
    await using scratch = await openScratch();
    const set = await makeJudgedSet(scratch.path, 1);
    await using judge = await openJudgeServer();
    const [a, b] = ['a', 'b'].map((name) => path.join(scratch.path, name)) as [string, string];
    for (const out of [a, b]) await evaluate(runOf(set, judge.url, out, ['--protocol', 'v2', '--limit', '1']));
    const log = path.join(b, 'log.jsonl');
    await writeFile(log, (await readFile(log, 'utf8')).replaceAll('judge-2026', 'judge-2027'));
    expect(await evaluate(['compare', a, b])).toMatchObject({
      status: 2,
      printed: expect.stringContaining('model that answered (judge-2026; judge-2027)'),
    });
  });

  it('only runs with the official text are listed under the protocol of the paper', async () => {
    await using scratch = await openScratch();
    const set = await makeJudgedSet(scratch.path, 1);
    await using judge = await openJudgeServer();
    const prompts = path.join(scratch.path, 'prompts');
    await cp(path.resolve(import.meta.dirname, '../../eval/prompts'), prompts, { recursive: true });
    await appendFile(path.join(prompts, 'v1.txt'), 'Be fair.\n');
    const headed = async (name: string, more: readonly string[]): Promise<string> => {
      const out = path.join(scratch.path, name);
      await evaluate(runOf(set, judge.url, out, ['--protocol', 'v1', '--limit', '1', ...more]));
      const lines = (await evaluate(['leaderboard', out])).printed.split('\n');
      return lines[lines.findIndex((line) => line.startsWith('▸')) - 4] ?? '';
    };
    expect(paperTables.protocol).toBe('v1 · official text');
    expect(await headed('ours', [])).toContain('protocol v1 · Dramatis wording · judge ear');
    expect(await headed('own', ['--prompts', prompts])).toMatch(/protocol v1 · prompts \([0-9a-f]{8}\) · judge ear/);
    const named = ['--prompts', prompts, '--prompts-name'];
    expect(await headed('named', [...named, 'kinder'])).toMatch(/protocol v1 · kinder \([0-9a-f]{8}\) ·/);
    expect(await headed('official', [...named, 'official text'])).toContain('protocol v1 · official text · judge ear');
  });

  it('judging stays within its budget', async () => {
    await using scratch = await openScratch();
    const set = await makeJudgedSet(scratch.path, 2);
    await using judge = await openJudgeServer();
    // 200 tokens of text, 700 of audio, 60 of output: 0.0032 dollars per question.
    const prices = ['--judge-prices', '1,4,5', '--max-cost', '0.05', '--judge-concurrency', '2'];
    const out = path.join(scratch.path, 'run');
    const { status, printed } = await evaluate(runOf(set, judge.url, out, prices));
    expect(status).toBe(1);
    expect(printed).toContain('--max-cost 0.05');
    expect(judge.answered).toBeLessThanOrEqual(18);
    expect(judge.answered).toBeGreaterThanOrEqual(15);
    expect((await evaluate(['resume', out, '--max-cost', '5'])).status).toBe(0);
  });
});

describe('judge prompts', () => {
  it('prompts are filled in one pass, so that inserted text opens no placeholders', () => {
    const template = {
      file: 'x',
      hash: '',
      system: '',
      user: 'Q {{questions}} {{first_audio}}\n{{second_audio}} {{role}}',
    };
    expect(fillTemplate(template, { questions: 'What is {{role}}?', role: 'Thor' })).toEqual([
      { text: 'Q What is {{role}}? ' },
      { speaker: 'first' },
      { text: '\n' },
      { speaker: 'second' },
      { text: ' Thor' },
    ]);
    expect(() => fillTemplate(template, { questions: '' })).toThrow('{{role}}');
  });

  it('prompts come from a user’s folder, and missing ones are reported', async () => {
    await using scratch = await openScratch();
    expect(() => readTemplate('v1.txt', scratch.path)).toThrow('--prompts');
    expect(readTemplate('dramatis.txt').hash).toMatch(/^[0-9a-f]{64}$/);
  });
});
