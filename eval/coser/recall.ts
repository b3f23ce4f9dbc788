import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { openBm25, type Rank } from '../../agents/retrieval/bm25.ts';
import { searchTerms } from '../../agents/retrieval/words.ts';
import { EvalError } from '../eval-error.ts';
import { retrievalSources, type CoserConfig } from './config.ts';
import { environment, withoutThoughts } from './messages.ts';

const line = z.looseObject({ character: z.string(), message: z.string() });
const conversation = z.looseObject({
  scenario: z.string().default(''),
  topic: z.string().default(''),
  dialogues: z.array(line).default([]),
});
const plot = z.looseObject({
  text: z.string().default(''),
  summary: z.string().default(''),
  key_characters: z
    .array(z.looseObject({ name: z.string(), experience: z.string().nullish(), summary: z.string().nullish() }))
    .default([]),
  conversation: z.array(conversation).default([]),
});
const book = z.looseObject({ plots: z.array(plot), split_plot_index: z.number().int() });

export type Book = z.infer<typeof book>;
type Kind = 'raw' | 'experience' | 'conversation';

/** Looks up what a character went through; empty if nothing fits. */
export type Recall = (wanted: {
  readonly book: string;
  /** Plot of the scene. */
  readonly plot: number;
  readonly character: string;
  readonly query: string;
}) => Promise<string>;

const headings: Readonly<Record<Kind, string>> = {
  raw: 'From the book',
  experience: 'Earlier experience',
  conversation: 'Earlier conversation',
};

/** Opens the look-up of a run; undefined if it has none. Books and indexes are kept. */
export function openRecall({ books, retrieval, leaky }: CoserConfig): Recall | undefined {
  if (retrieval === 'none' || books === undefined) return undefined;
  const sources = Object.entries(retrievalSources[retrieval]) as [Kind, number][];
  const read = new Map<string, Promise<Book>>();
  const indexes = new Map<string, readonly Index[]>();
  return async (wanted) => {
    const known = read.get(wanted.book) ?? readBook(books, wanted.book);
    read.set(wanted.book, known);
    const { plots, split_plot_index: split } = await known;
    const key = JSON.stringify([wanted.book, wanted.character, leaky ? -1 : wanted.plot]);
    const ready =
      indexes.get(key) ??
      sources.map(([kind, count]) => {
        const allowed = plots.filter((_, at) => leaky || (at < split && at !== wanted.plot));
        return indexOf(kind, count, documentsOf(kind, allowed, wanted.character));
      });
    indexes.set(key, ready);
    return ready.flatMap((index) => hitsOf(index, wanted.query)).join('\n\n');
  };
}

/** Hash of the books of a run, so that they cannot change between two parts of it. */
export async function booksHash(folder: string, names: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const name of [...new Set(names)].toSorted()) {
    hash.update(name);
    hash.update(await readFile(path.join(folder, `${name}.json`)).catch(() => ''));
  }
  return hash.digest('hex');
}

async function readBook(folder: string, name: string): Promise<Book> {
  const file = path.join(folder, `${name}.json`);
  try {
    return book.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch (cause) {
    throw new EvalError(
      'data',
      `${file} cannot be read as a book. Give the folder of CoSER's books with --books.`,
      cause,
    );
  }
}

/** Documents of one kind about a character, in the order of the book. */
export function documentsOf(kind: Kind, plots: readonly Book['plots'][number][], character: string): string[] {
  const involved = plots.filter(
    (each) =>
      each.key_characters.some(({ name }) => name === character) ||
      each.conversation.some(({ dialogues }) => dialogues.some((said) => said.character === character)),
  );
  if (kind === 'raw') return involved.map(({ text }) => text).filter((text) => text !== '');
  if (kind === 'experience')
    return involved.map(({ summary, key_characters: people }) => {
      const person = people.find(({ name }) => name === character);
      const experience = person?.experience ?? person?.summary ?? '';
      return `PLOT: ${summary}${experience === '' ? '' : `\n${character}'s role: ${experience}`}`;
    });
  return involved.flatMap(({ summary, conversation: list }) =>
    list.map(({ scenario, topic, dialogues }) =>
      [
        `Background: ${summary}`,
        `Scenario: ${scenario}`,
        `Topic: ${topic}`,
        ...dialogues.map((said) => {
          const text = said.character === environment ? said.message : withoutThoughts(said.message);
          return `${said.character}: ${text}`;
        }),
      ].join('\n\n'),
    ),
  );
}

interface Index {
  readonly kind: Kind;
  readonly count: number;
  readonly pieces: readonly string[];
  readonly rank: Rank;
}

function indexOf(kind: Kind, count: number, documents: readonly string[]): Index {
  const pieces = documents.flatMap((document) => piecesOf(document));
  return { kind, count, pieces, rank: openBm25(pieces.map((piece) => [{ terms: searchTerms(piece) }])) };
}

function hitsOf({ kind, count, pieces, rank }: Index, query: string): string[] {
  if (pieces.length === 0) return [];
  const hits = rank(searchTerms(query), count).toSorted((a, b) => a.index - b.index);
  if (hits.length === 0) return [];
  const texts = hits.map(({ index }, at) => `${hits.length > 1 ? `${at + 1}. ` : ''}${pieces[index]}`);
  return [`== ${headings[kind]} ==`, ...texts];
}

const pieceLength = 1_000;
const overlap = 200;
const separators = ['\n\n', '\n', ' ', ''];

/** Cuts a text into pieces of at most 1000 characters, at paragraphs, lines or words, that share up to 200. */
export function piecesOf(text: string): string[] {
  return merged(partsOf(text, 0));
}

/** Parts that fit, cut at the coarsest separator; separators stay at the front of parts. */
function partsOf(text: string, level: number): string[] {
  if (text.length <= pieceLength) return [text];
  const separator = separators[level] ?? '';
  if (separator === '')
    return Array.from({ length: Math.ceil(text.length / pieceLength) }, (_, at) =>
      text.slice(at * pieceLength, (at + 1) * pieceLength),
    );
  return text
    .split(separator)
    .map((part, at) => (at === 0 ? part : separator + part))
    .filter((part) => part !== '')
    .flatMap((part) => partsOf(part, level + 1));
}

function merged(parts: readonly string[]): string[] {
  const pieces: string[] = [];
  let held: string[] = [];
  const length = (): number => held.reduce((sum, part) => sum + part.length, 0);
  for (const part of parts) {
    if (held.length > 0 && length() + part.length > pieceLength) {
      pieces.push(held.join(''));
      while (held.length > 0 && (length() > overlap || length() + part.length > pieceLength)) held = held.slice(1);
    }
    held.push(part);
  }
  if (held.length > 0) pieces.push(held.join(''));
  return pieces.map((piece) => piece.trim()).filter((piece) => piece !== '');
}
