import { execFile, fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openSilero } from '../../../voices/vads/silero.ts';
import { summarize, type BenchRow } from '../kit/stats.ts';
import { originalPath } from '../../voices/vads/silero-graph.ts';
import { cpuPerWindow, noise, tickOf, warmUpTicks, type Tick } from './vad-ticks.ts';

const bench = 'vad';
const unit = 'µs CPU';
/** Figures per row. */
const blocks = 25;

/** LiveKit's plugin for Node: the same network, one inference per window, in the caller's thread. */
const peer = { name: '@livekit/agents-plugin-silero', version: '1.9.0' };

/**
 * CPU time of all threads per stream and window of 32 ms, for streams that tick together. `peer-32` is LiveKit's
 * plugin, installed on demand; the rows that need it have no value if npm cannot install it. `ratio-32` is ours
 * relative to the peer's, measured in alternation. `plain-32` runs the original model file, in the same batches.
 */
export async function* run(): AsyncIterable<BenchRow> {
  const vad = openSilero();
  const plain = openSilero({ modelPath: originalPath });
  const ours = (count: number): Tick => tickOf(Array.from({ length: count }, () => vad.open()));
  for (const count of [1, 32, 128]) yield summarize(bench, `ours-${count}`, unit, await measure(ours(count), count));
  const plainTick = tickOf(Array.from({ length: 32 }, () => plain.open()));
  yield summarize(bench, 'plain-32', unit, await measure(plainTick, 32));
  const folder = await mkdtemp(join(tmpdir(), 'dramatis-bench-vad-'));
  const child = await openPeer(folder, 32);
  try {
    const costs = child === undefined ? [] : await byTurns(ours(32), child);
    const costOfPeer = costs.map(({ peer }) => peer);
    yield summarize(bench, 'peer-32', unit, costOfPeer);
    const ratios = costs.map(({ ours, peer }) => ours / peer);
    yield { ...summarize(bench, 'ratio-32', '×', ratios), ...thousandths(ratios) };
  } finally {
    child?.kill();
    await Promise.all([vad.close(), plain.close(), rm(folder, { recursive: true })]);
  }
}

async function measure(tick: Tick, count: number): Promise<number[]> {
  const windows = noise(count);
  for (let index = 0; index < warmUpTicks; index += 1) await tick(windows);
  const costs: number[] = [];
  for (let block = 0; block < blocks; block += 1) costs.push(await cpuPerWindow(tick, windows));
  return costs;
}

async function byTurns(tick: Tick, child: ChildProcess): Promise<{ readonly ours: number; readonly peer: number }[]> {
  const windows = noise(32);
  const costs: { readonly ours: number; readonly peer: number }[] = [];
  for (let block = 0; block < blocks; block += 1) {
    const ours = await cpuPerWindow(tick, windows);
    child.send('measure');
    const [cost] = (await once(child, 'message')) as [number];
    costs.push({ ours, peer: cost });
  }
  return costs;
}

/**
 * Installs the peer into `folder`, without dependencies it does not need here, and starts the process that measures it.
 * Undefined, with a printed reason, on failure.
 */
async function openPeer(folder: string, count: number): Promise<ChildProcess | undefined> {
  try {
    await writeFile(join(folder, 'package.json'), '{ "private": true }');
    const flags = ['--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund'];
    await promisify(execFile)('npm', ['install', ...flags, `${peer.name}@${peer.version}`], { cwd: folder });
    const file = join(folder, 'node_modules', peer.name, 'dist/onnx_model.js');
    const child = fork(join(import.meta.dirname, 'vad-peer.ts'), [file, String(count)]);
    const [first] = (await Promise.race([once(child, 'message'), once(child, 'exit')])) as [unknown];
    if (first !== 'ready') throw new Error(`its process ended with ${String(first)}`);
    return child;
  } catch (reason) {
    const first = reason instanceof Error ? reason.message.split('\n').slice(0, 2).join(' ') : String(reason);
    console.error(`${peer.name} cannot be installed or run, so peer-32 and ratio-32 have no value: ${first}`);
    return undefined;
  }
}

/** Percentiles with three decimal places; `summarize` keeps two. */
function thousandths(values: readonly number[]): Pick<BenchRow, 'median' | 'p95' | 'p99'> {
  const milli = values.map((value) => value * 1_000);
  const { median, p95, p99 } = summarize(bench, '', '', milli);
  return { median: Math.round(median) / 1_000, p95: Math.round(p95) / 1_000, p99: Math.round(p99) / 1_000 };
}
