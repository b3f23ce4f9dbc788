import { performance } from 'node:perf_hooks';
import MiniSearch from 'minisearch';
import { recipeFor } from '../../agents/recipe.ts';
import { rankTexts } from '../../agents/text-ranking.ts';
import { searchTerms } from '../../agents/words.ts';
import type { Message } from '../../agents/chat.ts';
import { largePack, type LargePack } from './large-pack.ts';
import { summarize, type BenchRow } from './stats.ts';

const bench = 'mind';
const size = { lines: 5_000, lore: 500, memories: 2_000 };
const recalledMemories = 5;
const rounds = 25;

/**
 * What a turn costs before the model is asked: prompt building with retrieval over 5,000 lines, 500 lorebook entries (one in ten a
 * pattern, recursion on) and 2,000 memories. The target is 3 ms p99. Beside it the same retrieval by MiniSearch, with every lorebook
 * key looked for in every message.
 */
export async function* run(): AsyncIterable<BenchRow> {
  const pack = await largePack(size);
  const began = performance.now();
  const build = recipeFor(pack.character);
  const memories = rankTexts(pack.memories);
  yield summarize(bench, 'making the indexes, once', 'ms', [performance.now() - began]);
  for (const talk of pack.talks) turn(talk);
  yield summarize(bench, 'a turn: prompt, lines, lorebook, memories', 'ms', timesOf(pack, turn));
  // Where others share the cores, the clock counts their work too.
  yield summarize(bench, 'the same, of this process alone', 'CPU ms', timesOf(pack, turn, rounds, cpuMs));
  yield summarize(
    bench,
    'of that: prompt, lines, lorebook',
    'ms',
    timesOf(pack, (talk) => void build(talk, {})),
  );
  yield summarize(
    bench,
    'of that: memories',
    'ms',
    timesOf(pack, (talk) => void memories(remarkOf(talk), 5)),
  );
  const naive = naiveTurn(pack);
  yield summarize(bench, 'baseline: MiniSearch and every key', 'ms', timesOf(pack, naive, 1));

  function turn(talk: readonly Message[]): void {
    const scene = memories(remarkOf(talk), recalledMemories)
      .map(({ index }) => pack.memories[index] ?? '')
      .join('\n');
    build(talk, { scene });
  }
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
