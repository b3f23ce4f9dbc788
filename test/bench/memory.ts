import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { factsIn } from '../../agents/memory/facts.ts';
import { openRecall } from '../../server/memory/recall.ts';
import { memoryFile, MemoryStore } from '../../server/memory/store.ts';
import { summarize, type BenchRow } from './stats.ts';

const nouns =
  'garden river heron cat sister letter storm harbour piano winter bread candle orchard train island clock'.split(' ');
const verbs = 'saw lost found painted carried heard forgot followed sold dreamt'.split(' ');

/** What memory costs the event loop: keeping a turn, recalling among 2,000, and beginning a talk with so many. `--turns 5000` unless given. */
export async function* run(args: readonly string[]): AsyncIterable<BenchRow> {
  const count = args.includes('--turns') ? Number(args[args.indexOf('--turns') + 1]) : 5_000;
  const folder = await mkdtemp(path.join(tmpdir(), 'dramatis-memory-bench-'));
  const store = new MemoryStore(memoryFile(folder));
  const bond = { owner: '', user: 'bob', character: 'alice' };
  const remark = (index: number): string =>
    `I ${pick(verbs, index)} the ${pick(nouns, index * 7)} of number ${index} near the ${pick(nouns, index * 3)}. I like ${pick(nouns, index)} ${index}.`;
  try {
    const keepMs: number[] = [];
    for (let index = 0; index < count; index += 1) {
      const asked = remark(index);
      const answered = `And what of the ${pick(nouns, index * 5)}? `.repeat(4);
      const began = performance.now();
      store.record(bond, { session: 's', item: `i${index}`, asked, answered }, factsIn(asked), index);
      keepMs.push(performance.now() - began);
    }
    const openMs: number[] = [];
    const recallMs: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      const recall = openRecall(store, bond, Date.now);
      let began = performance.now();
      recall.read();
      openMs.push(performance.now() - began);
      for (let index = 0; index < 400; index += 1) {
        began = performance.now();
        recall([{ role: 'user', text: remark(index * 11) }]);
        recallMs.push(performance.now() - began);
      }
    }
    yield summarize('memory', 'keeping a turn with its facts', 'ms', keepMs);
    yield summarize('memory', 'the longest of these', 'ms', [Math.max(...keepMs)]);
    yield summarize('memory', 'recalling for a remark', 'ms', recallMs);
    yield summarize('memory', 'beginning a talk (its index)', 'ms', openMs);
  } finally {
    store.close();
    await rm(folder, { recursive: true, force: true });
  }
}

function pick(words: readonly string[], index: number): string {
  return words[index % words.length] ?? '';
}
