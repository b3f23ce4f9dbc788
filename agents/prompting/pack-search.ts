import type { DialoguePair } from '../../characters/card.ts';
import type { Character } from '../../characters/character.ts';
import type { CallOptions } from '../../voices/engine.ts';
import type { Message } from '../chat.ts';
import type { SharedEmbedder } from '../embeddings/shared-embedder.ts';
import { openHybrid, type Hybrid } from '../embeddings/hybrid.ts';
import { searchedPart } from '../retrieval/words.ts';
import { decoratorsOf } from './lore-decorators.ts';
import { experienceCount, experiencesOf } from './recalled.ts';

/** Parts of a character pack that match a user message by words or embedding, nearest first. */
export interface PackMatches {
  readonly lines: readonly DialoguePair[];
  /** Facts of the lorebook, whether or not one of their keys was said. */
  readonly lore: readonly string[];
  readonly experiences: readonly string[];
}

/** Undefined if the embedder is not ready, fails or is late: the caller then matches only by words. */
export type FindPackMatches = (userMessage: string, options: CallOptions) => Promise<PackMatches | undefined>;

/** Matches of the last user message, if they are available in time. */
export async function nearLast(
  talk: readonly Message[],
  findByEmbedding: FindPackMatches | undefined,
  signal: AbortSignal,
): Promise<PackMatches | undefined> {
  const userMessage = searchedPart(talk.findLast(({ role }) => role === 'user')?.text ?? '');
  return userMessage === '' ? undefined : findByEmbedding?.(userMessage, { signal });
}

/** Pause before the character is embedded again after a failure. */
const restMs = 30_000;
/** The largest number any recipe shows (ChatHaruhi). */
const lineCount = 19;
const loreCount = 2;

/** An index and the items it finds. */
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

/** Embeds a character's lines, lorebook and experiences once, in the background, at the first user message. */
export function openPackSearch(character: Character, embedder: SharedEmbedder): FindPackMatches {
  const books = booksOf(character);
  const hybrids = Object.values(books).map(({ hybrid }) => hybrid);
  let ready = false;
  let triedAtMs = Number.NEGATIVE_INFINITY;
  const prepare = async (): Promise<void> => {
    const { signal } = new AbortController();
    for (const hybrid of hybrids) await hybrid.prepare(embedder, { signal });
    ready = true;
  };
  return async (userMessage, options) => {
    if (!ready) {
      if (performance.now() - triedAtMs > restMs) {
        triedAtMs = performance.now();
        prepare().catch(() => undefined);
      }
      return undefined;
    }
    const embedding = await embedder.embeddingOf(userMessage, options);
    if (embedding === undefined) return undefined;
    const near = <Item>({ hybrid, items }: Book<Item>, count: number): Item[] =>
      hybrid.search(userMessage, count, embedding).flatMap(({ index }) => items[index] ?? []);
    return {
      lines: near(books.lines, lineCount),
      lore: near(books.lore, loreCount),
      experiences: near(books.experiences, experienceCount),
    };
  };
}

/** Indexes are keyed by the lorebook: a character in a scene is a copy that shares its lorebook. */
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

/** Unconditional facts; conditional ones are left to their keys. */
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
