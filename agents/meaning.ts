import { setTimeout as pause } from 'node:timers/promises';
import type { DialoguePair } from '../characters/card.ts';
import type { Character } from '../characters/character.ts';
import type { CallOptions } from '../voices/engine.ts';
import type { Embedder } from './embeddings/embedder.ts';
import { openHybrid } from './hybrid.ts';
import { decoratorsOf } from './lore-decorators.ts';

/** What of a character is near a remark in words or meaning, nearest first. */
export interface Near {
  readonly lines: readonly DialoguePair[];
  /** Facts of the lorebook, whether or not a key of them was said. */
  readonly lore: readonly string[];
}

/** Finds what is near a remark; undefined where the embedder is not ready, fails or is late: then words alone decide. */
export type FindNear = (remark: string, options: CallOptions) => Promise<Near | undefined>;

/** Somebody waits for the answer: a remark's meaning may take so long. */
const longestWaitMs = 250;
/** After a failure the character is not embedded again before this much time. */
const restMs = 30_000;
const lineCount = 5;
const loreCount = 2;

/** Embeds a character's lines and lorebook in the background, once, at the first remark. */
export function openMeaning({ lines, lorebook }: Character, embedder: Embedder): FindNear {
  const facts = lorebook
    .filter((entry) => entry.enabled !== false && !entry.constant)
    .map((entry) => ({ keys: entry.keys, ...decoratorsOf(entry.content) }))
    .filter(({ decorators, content }) => content !== '' && Object.keys(decorators).length === 0);
  const books = {
    lines: openHybrid(
      lines.map(({ asks, reply }) => [...asks, reply].join('\n')),
      embedder,
    ),
    lore: openHybrid(
      facts.map(({ keys, content }) => [...keys, content].join('\n')),
      embedder,
    ),
  };
  let ready = false;
  let triedAtMs = Number.NEGATIVE_INFINITY;
  const prepare = async (): Promise<void> => {
    const { signal } = new AbortController();
    await Promise.all(Object.values(books).map((book) => book.prepare({ signal })));
    ready = true;
  };
  return async (remark, { signal }) => {
    if (!ready) {
      if (performance.now() - triedAtMs > restMs) {
        triedAtMs = performance.now();
        prepare().catch(() => undefined);
      }
      return undefined;
    }
    const point = await pointOf(remark, embedder, signal);
    if (point === undefined) return undefined;
    const pick = <Item>(items: readonly Item[], book: keyof typeof books, count: number): Item[] =>
      books[book].search(remark, count, point).flatMap(({ index }) => items[index] ?? []);
    return {
      lines: pick(lines, 'lines', lineCount),
      lore: pick(facts, 'lore', loreCount).map(({ content }) => content),
    };
  };
}

async function pointOf(remark: string, embedder: Embedder, signal: AbortSignal): Promise<Float32Array | undefined> {
  const done = new AbortController();
  try {
    const both = AbortSignal.any([signal, done.signal]);
    const late = pause(longestWaitMs, undefined, { signal: both }).catch(() => undefined);
    const embedded = embedder.embed([remark], { signal: both }).then(([point]) => point);
    return await Promise.race([embedded.catch(() => undefined), late]);
  } finally {
    done.abort(new Error('nobody waits any more'));
    signal.throwIfAborted();
  }
}
