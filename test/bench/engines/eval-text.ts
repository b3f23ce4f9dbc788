import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TextSummary } from '../../../eval/text/summary.ts';
import { evaluate } from '../../rigs/eval-rig.ts';
import { sampleHeap } from '../kit/heap.ts';
import { summarize, type BenchRow } from '../kit/stats.ts';

const bench = 'eval-text';
const roles = 50;
const questions = 5_000;
/** Each answer is judged in both orders. */
const items = questions * 2;

/**
 * The cost of the harness for benchmarks of text: 5,000 stored answers to RoleBench, each judged in both orders by a
 * judge in another process of which one answer in ten is bad.
 */
export async function* run(): AsyncIterable<BenchRow> {
  const folder = await mkdtemp(path.join(tmpdir(), 'dramatis-bench-eval-text-'));
  const judge = fork(path.join(import.meta.dirname, 'eval-text-judge.ts'));
  try {
    const [{ url }] = (await once(judge, 'message')) as [{ url: string }];
    const outputs = await writeData(folder);
    const out = path.join(folder, 'run');
    const heap = sampleHeap();
    const before = process.cpuUsage();
    const where = ['--task', 'rolebench', '--data', folder, '--outputs', outputs, '--out', out];
    await evaluate(['run', ...where, '--judge', `${url}/v1`, '--judge-model', 'judge', '--judge-concurrency', '32']);
    const { user, system } = process.cpuUsage(before);
    heap.stop();
    yield summarize(bench, 'CPU of the harness per judged item, scores included', 'ms', [
      (user + system) / 1_000 / items,
    ]);
    yield* heap.rows(bench);
    const summary = JSON.parse((await evaluate(['rescore', out, '--json'])).printed) as TextSummary;
    const { readable, unreadable, refused, failed, repeated } = summary.health;
    yield summarize(bench, 'items that the judge answered readably', 'count', [readable]);
    yield summarize(bench, 'items asked again', 'count', [repeated]);
    yield summarize(bench, 'items not counted at all', 'count', [items - readable - unreadable - refused - failed]);
  } finally {
    judge.disconnect();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Writes a test set of RoleBench with a baseline, and answers to it. Resolves to the file of the answers. */
async function writeData(folder: string): Promise<string> {
  const rows = Array.from({ length: questions }, (_, at) => {
    const words = Array.from({ length: 30 }, (__, word) => `word${(at * 7 + word * 13) % 97}`).join(' ');
    return { role: `Role ${at % roles}`, question: `Question number ${at}?`, generated: [words] };
  });
  const put = async (place: string, chosen: readonly object[]): Promise<string> => {
    const file = path.join(folder, place);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, chosen.map((row) => `${JSON.stringify(row)}\n`).join(''));
    return file;
  };
  const base = 'rolebench-eng/instruction-generalization';
  for (const [kind, at] of [
    ['general', 0],
    ['role_specific', 1],
  ] as const) {
    const chosen = rows.filter((_, index) => index % 2 === at).map((row) => ({ ...row, type: 'script_based' }));
    await put(`${base}/${kind}/test.jsonl`, chosen);
    await put(`${base}/${kind}/rolegpt_baseline.jsonl`, chosen);
  }
  return put('outputs.jsonl', rows);
}
