import type { DialoguePair } from '../../characters/card.ts';
import type { Character } from '../../characters/character.ts';
import type { CallOptions } from '../../voices/engine.ts';
import type { Message } from '../chat.ts';
import type { Meanings } from '../embeddings/embedding-index.ts';
import { openHybrid, type Hybrid } from '../embeddings/hybrid.ts';
import { decoratorsOf } from './lore-decorators.ts';
import { experienceCount, experiencesOf } from './recalled.ts';

/** What of a character is near a remark in words or meaning, nearest first. */
export interface Near {
  readonly lines: readonly DialoguePair[];
  /** Facts of the lorebook, whether or not a key of them was said. */
  readonly lore: readonly string[];
  readonly experiences: readonly string[];
}

/** Finds what is near a remark; undefined where the embedder is not ready, fails or is late: then words alone decide. */
export type FindNear = (remark: string, options: CallOptions) => Promise<Near | undefined>;

/** What is near the last remark of a talk, where that can be told in time. */
export async function nearLast(
  talk: readonly Message[],
  meaning: FindNear | undefined,
  signal: AbortSignal,
): Promise<Near | undefined> {
  const remark = talk.findLast(({ role }) => role === 'user')?.text ?? '';
  return remark === '' ? undefined : meaning?.(remark, { signal });
}

/** After a failure the character is not embedded again before this much time. */
const restMs = 30_000;
/** As many as the recipe that wants most of them (ChatHaruhi) shows. */
const lineCount = 19;
const loreCount = 2;

/** What is searched, and what is found there. */
interface Book<Item> {
  readonly hybrid: Hybrid;
  readonly items: readonly Item[];
}

interface Books {
  readonly lines: Book<DialoguePair>;
  readonly lore: Book<string>;
  readonly experiences: Book<string>;
}

const opened = new WeakMap<Character['lorebook'], Books>();

/** Embeds a character's lines, lorebook and experiences in the background, once, at the first remark. */
export function openMeaning(character: Character, meanings: Meanings): FindNear {
  const books = booksOf(character);
  const hybrids = Object.values(books).map(({ hybrid }) => hybrid);
  let ready = false;
  let triedAtMs = Number.NEGATIVE_INFINITY;
  const prepare = async (): Promise<void> => {
    const { signal } = new AbortController();
    for (const hybrid of hybrids) await hybrid.prepare(meanings, { signal });
    ready = true;
  };
  return async (remark, options) => {
    if (!ready) {
      if (performance.now() - triedAtMs > restMs) {
        triedAtMs = performance.now();
        prepare().catch(() => undefined);
      }
      return undefined;
    }
    const point = await meanings.pointOf(remark, options);
    if (point === undefined) return undefined;
    const near = <Item>({ hybrid, items }: Book<Item>, count: number): Item[] =>
      hybrid.search(remark, count, point).flatMap(({ index }) => items[index] ?? []);
    return {
      lines: near(books.lines, lineCount),
      lore: near(books.lore, loreCount),
      experiences: near(books.experiences, experienceCount),
    };
  };
}

/** By its lorebook: who plays in a scene is a copy of a character, with the same one. */
function booksOf(character: Character): Books {
  const { lines, lorebook, experiences = [] } = character;
  const books = opened.get(lorebook) ?? {
    lines: { items: lines, hybrid: openHybrid(lines.map(({ asks, reply }) => [...asks, reply].join('\n'))) },
    lore: loreBook(lorebook),
    experiences: { items: experiences, hybrid: experiencesOf(character) ?? openHybrid([]) },
  };
  opened.set(lorebook, books);
  return books;
}

/** Facts without conditions: what depends on the talk is left to the keys. */
function loreBook(lorebook: Character['lorebook']): Book<string> {
  const facts = lorebook
    .filter((entry) => entry.enabled !== false && !entry.constant)
    .map((entry) => ({ keys: entry.keys, ...decoratorsOf(entry.content) }))
    .filter(({ decorators, content }) => content !== '' && Object.keys(decorators).length === 0);
  return {
    items: facts.map(({ content }) => content),
    hybrid: openHybrid(
      facts.map(({ keys, content }) => [...keys, content].join('\n')),
      { byTopic: true },
    ),
  };
}
