import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { factsIn } from '../../../agents/memory/facts.ts';
import { exportOf } from '../../../server/memory/store/exported.ts';
import { openRecall } from '../../../server/memory/recall.ts';
import type { AsyncStore } from '../../../server/memory/store/operations.ts';
import { memoryFile } from '../../../server/memory/store/store.ts';
import { openStoreThread } from '../../../server/memory/store/store-thread.ts';
import { watchOwnDelay } from '../load/own-delay.ts';
import { summarize, type BenchRow } from '../kit/stats.ts';

const nouns =
  'garden river heron cat sister letter storm harbour piano winter bread candle orchard train island clock'.split(' ');
const verbs = 'saw lost found painted carried heard forgot followed sold dreamt'.split(' ');

const bond = { owner: '', user: 'bob', character: 'alice' };
const eve = { ...bond, user: 'eve' };
const talkers = 8;
const idleMs = 10_000;

/**
 * The cost of memory for users in a conversation: storing a turn, recall among 2,000 memories, starting a conversation
 * with that many; and the event loop delay while other users' memories are exported and erased. `--turns 10000` unless
 * given.
 */
export async function* run(args: readonly string[]): AsyncIterable<BenchRow> {
  const count = args.includes('--turns') ? Number(args[args.indexOf('--turns') + 1]) : 10_000;
  const folder = await mkdtemp(path.join(tmpdir(), 'dramatis-memory-bench-'));
  const file = memoryFile(folder);
  const thread = await openStoreThread(file);
  const loop = watchOwnDelay();
  try {
    // Baseline: the delay caused by the machine itself.
    await pause(idleMs);
    yield* lateness('with nothing to do', loop.take());
    const keepMs = await keep(thread, count);
    yield summarize('memory', 'keeping a turn with its facts', 'ms', keepMs);
    yield summarize('memory', 'the longest of these', 'ms', [Math.max(...keepMs)]);
    yield* lateness('keeping turns', loop.take());
    const { openMs, recallMs } = await recalling(thread);
    yield summarize('memory', 'recalling for a remark', 'ms', recallMs);
    yield summarize('memory', 'beginning a talk (its index)', 'ms', openMs);
    yield* during('an export', loop, thread, async () => {
      for await (const _piece of exportOf({}, (last) => thread.page(bond, '', last)));
    });
    yield* during('a list of the page', loop, thread, () => thread.list(bond, { most: 1_000 }));
    yield* during('a summary', loop, thread, async () => {
      const outgrown = await thread.outgrown(bond);
      if (outgrown === undefined) throw new Error('nothing to sum up');
      await thread.summarise(bond, { ...outgrown, text: 'A summary.', facts: [], atMs: 0 });
    });
    yield* during('a deletion', loop, thread, () => thread.remove(bond, 'f1'));
    yield* during('an erasure, until no trace is left', loop, thread, () => thread.erase(eve));
  } finally {
    await thread.close();
    await rm(folder, { recursive: true, force: true });
  }
}

function* lateness(metric: string, looks: readonly number[]): Iterable<BenchRow> {
  yield summarize('memory', `event loop late, ${metric}`, 'ms', looks);
  yield summarize('memory', `the latest of these, ${metric}`, 'ms', looks.slice(-1));
}

/** Event loop delay during some work, and the time to store turns of other users meanwhile. */
async function* during(
  name: string,
  loop: ReturnType<typeof watchOwnDelay>,
  thread: AsyncStore,
  work: () => Promise<unknown>,
): AsyncIterable<BenchRow> {
  // Delays of the previous measurement must not count here.
  await pause(200);
  loop.take();
  const began = performance.now();
  const over = new AbortController();
  const working = work().finally(() => over.abort());
  const keepMs: number[] = [];
  while (!over.signal.aborted) {
    const index = keepMs.length;
    keepMs.push(await keepOne(thread, 'others', `${name}${index}`, index));
  }
  await working;
  yield summarize('memory', name, 'ms', [performance.now() - began]);
  yield* lateness(`during ${name}`, loop.take());
  yield summarize('memory', `keeping a turn during ${name}`, 'ms', keepMs);
}

/** Concurrent conversations; one in four turns is Eve's. */
export async function keep(thread: AsyncStore, count: number): Promise<number[]> {
  const keepMs: number[] = [];
  const talk = async (talker: number): Promise<void> => {
    for (let index = talker; index < count; index += talkers)
      keepMs.push(await keepOne(thread, index % 4 === 3 ? 'eve' : 'bob', `i${index}`, index));
  };
  await Promise.all(Array.from({ length: talkers }, (_, talker) => talk(talker)));
  return keepMs;
}

async function keepOne(thread: AsyncStore, user: string, item: string, index: number): Promise<number> {
  const asked = remark(index);
  const answered = `And what of the ${pick(nouns, index * 5)}? `.repeat(4);
  const began = performance.now();
  await thread.record({ ...bond, user }, { session: 's', item, asked, answered }, factsIn(asked), index);
  return performance.now() - began;
}

/** Times of beginning a conversation, and of recalling for a remark, in milliseconds. */
export async function recalling(
  store: AsyncStore,
): Promise<{ readonly openMs: number[]; readonly recallMs: number[] }> {
  const openMs: number[] = [];
  const recallMs: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    const recall = openRecall(store, bond, Date.now);
    let began = performance.now();
    await recall.read();
    openMs.push(performance.now() - began);
    for (let index = 0; index < 400; index += 1) {
      began = performance.now();
      await recall([{ role: 'user', text: remark(index * 11) }]);
      recallMs.push(performance.now() - began);
    }
  }
  return { openMs, recallMs };
}

function remark(index: number): string {
  return `I ${pick(verbs, index)} the ${pick(nouns, index * 7)} of number ${index} near the ${pick(nouns, index * 3)}. I like ${pick(nouns, index)} ${index}.`;
}

function pick(words: readonly string[], index: number): string {
  return words[index % words.length] ?? '';
}
