import path from 'node:path';
import { performance } from 'node:perf_hooks';
import MiniSearch from 'minisearch';
import { unitOf, type Embedder } from '../../../agents/embeddings/embedder.ts';
import { openSharedEmbedder } from '../../../agents/embeddings/shared-embedder.ts';
import { openPackSearch, type PackMatches } from '../../../agents/prompting/pack-search.ts';
import { openMemoryIndex } from '../../../agents/memory/memory-index.ts';
import { recipeFor } from '../../../agents/recipes/recipes.ts';
import { searchTerms } from '../../../agents/retrieval/words.ts';
import type { Message } from '../../../agents/chat.ts';
import { loadCharacters } from '../../../characters/character.ts';
import { recallAtFive } from './recall-at-five.ts';
import { trigramEmbedder } from '../../fakes/models/trigram-embedder.ts';
import { seededRandom, largePack, type LargePack } from './large-pack.ts';
import { shareOf, summarize, type BenchRow } from '../kit/stats.ts';

const bench = 'prompt';
const size = { lines: 5_000, lore: 500, memories: 2_000 };
const recalledMemories = 5;
const rounds = 25;
/** Typical size of embedding models. */
const dimensions = 1_024;
const { signal } = new AbortController();

/**
 * The cost of a turn before the LLM is called: building the prompt, with retrieval over 5,000 lines, 500 lorebook
 * entries (one in ten a pattern, recursion on) and 2,000 memories, by keywords only and with embeddings too. The
 * embedding of the user message is precomputed; an embedder's own time, a quarter of a second at most, does not count
 * here. The target is 3 ms p99. For comparison, the same retrieval by MiniSearch, with every lorebook key searched in
 * every message. Then the share of held-out triggers whose line is among the first five.
 */
export async function* run(): AsyncIterable<BenchRow> {
  const pack = await largePack(size);
  const began = performance.now();
  const build = recipeFor(pack.character);
  const memories = openMemoryIndex();
  memories.add(pack.memories.map((text, index) => ({ id: `t${index}`, text, atMs: index })));
  yield summarize(bench, 'making the indexes, once', 'ms', [performance.now() - began]);
  const turn = (talk: readonly Message[], near?: PackMatches, point?: Float32Array): void => {
    const recalled = memories.find(remarkOf(talk), 0, point).slice(0, recalledMemories);
    build(talk, { memories: recalled, ...(near === undefined ? {} : { near }) });
  };
  for (const talk of pack.talks) turn(talk);
  yield summarize(bench, 'a turn: prompt, lines, lorebook, memories', 'ms', timesOf(pack, turn));
  // If other processes share the cores, wall time includes their work.
  yield summarize(bench, 'the same, of this process alone', 'CPU ms', timesOf(pack, turn, rounds, cpuMs));
  const written = timesOf(pack, (talk) => void build(talk, {}));
  yield summarize(bench, 'of that: prompt, lines, lorebook', 'ms', written);
  const found = timesOf(pack, (talk) => void memories.find(remarkOf(talk), 0));
  yield summarize(bench, 'of that: memories', 'ms', found);

  const searches = await searchesByMeaning(pack);
  for (const [index, point] of (await wordPoints.embed(pack.memories, { signal })).entries())
    memories.place(`t${index}`, point);
  const turnByMeaning = async (talk: readonly Message[]): Promise<void> => {
    const { near, point } = await searches(remarkOf(talk));
    turn(talk, near, point);
  };
  for (const talk of pack.talks) await turnByMeaning(talk);
  yield summarize(bench, 'a turn by meaning too', 'ms', await timesOfEach(pack, turnByMeaning));
  yield summarize(bench, 'the same, of this process alone', 'CPU ms', await timesOfEach(pack, turnByMeaning, cpuMs));
  yield summarize(bench, 'baseline: MiniSearch and every key', 'ms', timesOf(pack, naiveTurn(pack), 1));

  const packs = await loadCharacters(path.resolve(import.meta.dirname, '../../../characters'));
  yield shareOf(bench, 'recall@5 of held-out asks: BM25', await recallAtFive(packs));
  yield shareOf(bench, 'recall@5 of held-out asks: BM25 and letters', await recallAtFive(packs, trigramEmbedder));
}

/**
 * Dense embeddings like those of trained models: each word has a random one, and a text the sum of those of its words.
 */
const wordPoints: Embedder = {
  name: 'words',
  model: 'words',
  embed: async (texts) =>
    texts.map((text) => {
      const point = Array.from({ length: dimensions }, () => 0);
      for (const term of new Set(searchTerms(text)))
        for (const [at, value] of pointOf(term).entries()) point[at] = (point[at] ?? 0) + value;
      return unitOf(point);
    }),
};

const known = new Map<string, readonly number[]>();

function pointOf(term: string): readonly number[] {
  const draw = seededRandom(
    Array.from(term).reduce((hash, letter) => (hash * 31 + (letter.codePointAt(0) ?? 0)) % 65_521, 1),
  );
  const point = known.get(term) ?? Array.from({ length: dimensions }, () => draw() - 0.5);
  known.set(term, point);
  return point;
}

/** Returns the embedding search of a pack, once all of it has been embedded. */
async function searchesByMeaning({ character, talks }: LargePack) {
  const meanings = openSharedEmbedder(wordPoints);
  const find = openPackSearch(character, meanings);
  while ((await find(remarkOf(talks[0] ?? []), { signal })) === undefined)
    await new Promise((resolve) => setImmediate(resolve));
  return async (remark: string) => {
    const point = await meanings.embeddingOf(remark, { signal });
    return { near: await find(remark, { signal }), point };
  };
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

function timesOf(
  { talks }: LargePack,
  turn: (talk: readonly Message[]) => void,
  times = rounds,
  nowMs = (): number => performance.now(),
): number[] {
  return Array.from({ length: times }).flatMap(() =>
    talks.map((talk) => {
      const began = nowMs();
      turn(talk);
      return nowMs() - began;
    }),
  );
}

async function timesOfEach(
  { talks }: LargePack,
  turn: (talk: readonly Message[]) => Promise<void>,
  nowMs = (): number => performance.now(),
): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const talk of talks) {
      const began = nowMs();
      await turn(talk);
      times.push(nowMs() - began);
    }
  }
  return times;
}

function remarkOf(talk: readonly Message[]): string {
  return talk.at(-1)?.text ?? '';
}

function naiveTurn({ character, memories }: LargePack): (talk: readonly Message[]) => void {
  const searchOf = (texts: readonly string[]): MiniSearch<{ readonly id: number; readonly text: string }> => {
    const search = new MiniSearch<{ readonly id: number; readonly text: string }>({
      fields: ['text'],
      tokenize: searchTerms,
      processTerm: (term) => term,
    });
    search.addAll(texts.map((text, id) => ({ id, text })));
    return search;
  };
  const lines = searchOf(character.lines.map(({ asks, reply }) => [...asks, reply].join('\n')));
  const remembered = searchOf(memories);
  const keys = character.lorebook.flatMap((entry) => (entry.regex === true ? [] : entry.keys.map(searchTerms)));
  return (talk) => {
    lines.search(remarkOf(talk));
    remembered.search(remarkOf(talk));
    for (const message of talk) {
      const terms = new Set(searchTerms(message.text));
      keys.filter((key) => key.every((term) => terms.has(term)));
    }
  };
}
