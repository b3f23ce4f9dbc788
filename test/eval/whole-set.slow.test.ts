import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { LogLine } from '../../eval/run-log.ts';
import { readRun } from '../../eval/speechrole/run-view.ts';
import { summarizeRun } from '../../eval/speechrole/summary/summary.ts';
import { openJudgeServer, type JudgeFault } from '../fakes/servers/judge-server.ts';
import { makeJudgedSet } from './judged-set.ts';
import { evaluate, runOf } from '../rigs/eval-rig.ts';
import { openScratch } from './scratch.ts';

const kinds: readonly JudgeFault[] = ['garbled', 'refusal', 'filter', 'status-500', 'status-429', 'cut'];

it('392 dialogues × 8 metrics keep the judge busy, and 1 % faults are all accounted for', async () => {
  await using scratch = await openScratch();
  const set = await makeJudgedSet(scratch.path);
  let dealt = 0;
  const faultAt = (number: number): JudgeFault | undefined => {
    if (number % 100 !== 99) return undefined;
    dealt += 1;
    return kinds[dealt % kinds.length];
  };
  await using judge = await openJudgeServer({ faultAt, delayMs: 5 });
  const out = path.join(scratch.path, 'run');
  const concurrency = 32;
  // Without retries of the endpoint, every injected fault shows as failed.
  const more = ['--protocol', 'v1', '--judge-concurrency', String(concurrency), '--retries', '0'];
  await evaluate(runOf(set, judge.url, out, more));
  const { health, groups } = summarizeRun(await readRun(out));
  const of = (...names: JudgeFault[]): number => names.reduce((sum, name) => sum + (judge.faults[name] ?? 0), 0);
  expect(health.asked + health.failed).toBe(392 * 8);
  // Errors and broken responses are failures; a reply without scores is requested again.
  expect(health.failed).toBe(of('status-500', 'status-429', 'cut'));
  expect(health.repeatedReplies).toBe(of('garbled', 'refusal', 'filter'));
  expect(health).toMatchObject({ scored: health.asked, unparsed: 0, refused: 0 });
  expect(groups.filter(({ key }) => !key.includes('/')).reduce((sum, { row }) => sum + row.overall.failed, 0)).toBe(
    health.failed,
  );
  expect(judge.mostAtOnce).toBe(concurrency);

  await evaluate(['resume', out]);
  const resumed = summarizeRun(await readRun(out)).health;
  expect(resumed.failed).toBeLessThan(health.failed);
  const lines = (await readFile(path.join(out, 'log.jsonl'), 'utf8')).trimEnd().split('\n');
  const asks = lines.flatMap((text) => {
    const line = JSON.parse(text) as LogLine;
    return line.event === 'measured' ? [`${line.sample} ${line.ask}`] : [];
  });
  expect(new Set(asks).size).toBe(asks.length);
}, 120_000);
