import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { reportHtml } from '../../../eval/speechrole/sections/report.ts';
import { readRun } from '../../../eval/speechrole/run-view.ts';
import { summarizeRun } from '../../../eval/speechrole/summary/summary.ts';
import { makeJudgedSet } from '../../eval/judged-set.ts';
import { evaluate, runOf } from '../../rigs/eval-rig.ts';
import { sampleHeap } from '../kit/heap.ts';
import { summarize, type BenchRow } from '../kit/stats.ts';

const bench = 'eval';
const delayMs = 300;
const concurrency = 64;
const items = 392 * 8;

/**
 * The cost of the evaluation harness itself: 392 dialogues, rated metric by metric by a judge in another process that
 * takes 300 ms, 64 at a time, 1 % of its answers broken. Then the report.
 */
export async function* run(): AsyncIterable<BenchRow> {
  const folder = await mkdtemp(path.join(tmpdir(), 'dramatis-bench-eval-'));
  const judge = fork(path.join(import.meta.dirname, 'eval-judge.ts'), [String(delayMs)]);
  try {
    const set = await makeJudgedSet(folder);
    const [{ url }] = (await once(judge, 'message')) as [{ url: string }];
    const out = path.join(folder, 'run');
    const heap = sampleHeap();
    const cpuBefore = process.cpuUsage();
    const startMs = performance.now();
    await evaluate(runOf(set, url, out, ['--protocol', 'v1', '--judge-concurrency', String(concurrency)]));
    const tookMs = performance.now() - startMs;
    const cpu = process.cpuUsage(cpuBefore);
    heap.stop();
    yield summarize(bench, 'CPU of the harness per judged item', 'ms', [(cpu.user + cpu.system) / 1_000 / items]);
    yield summarize(bench, `wall clock over what a judge of ${delayMs} ms takes, per item and place`, 'ms', [
      (tookMs * concurrency) / items - delayMs,
    ]);
    yield summarize(bench, `throughput, of ${concurrency} places all the time`, '%', [
      (100 * items * delayMs) / concurrency / tookMs,
    ]);
    yield* heap.rows(bench);
    judge.send('faults');
    const [{ faults }] = (await once(judge, 'message')) as [{ faults: Record<string, number> }];
    const { health } = summarizeRun(await readRun(out));
    const spoiled = Object.values(faults).reduce((sum, count) => sum + count, 0);
    yield summarize(bench, 'answers spoiled', 'count', [spoiled]);
    yield summarize(bench, 'items without a score', 'count', [items - health.scored]);
    const reports: number[] = [];
    for (let repeat = 0; repeat < 5; repeat += 1) {
      const reportMs = performance.now();
      await reportHtml(await readRun(out), { worst: 8 });
      reports.push(performance.now() - reportMs);
    }
    yield summarize(bench, `report of ${items} judgments`, 'ms', reports);
  } finally {
    judge.disconnect();
    await rm(folder, { recursive: true, force: true });
  }
}
