import { storyChunks, withoutManyTabs, withoutRightsLines } from '../books/chunk-stories.ts';
import { readBooks } from '../books/read-books.ts';
import type { Prompt } from '../runner/prompts.ts';
import type { Pipeline } from '../runner/stage.ts';
import { languageOf } from '../runner/words.ts';
import { openBookText, plotDialogues } from './book-file.ts';
import { extractStage } from './extract.ts';
import { namesStage } from './names.ts';
import type { Plot, StoryChunk } from './plots.ts';
import { profilesStage, type CoserBook } from './profiles.ts';
import { refineStage } from './refine.ts';
import { circumstancesOf } from './test-set.ts';
import { trainingSamples } from './training-samples.ts';

export interface CoserOptions {
  /** Books: see `readBooks`. */
  readonly input: string;
  readonly rights: string;
  readonly promptOf: (name: string) => Prompt;
  /** 8,192 in the paper. */
  readonly chunkTokens?: number | undefined;
}

const defaultTokens = 8_192;

/** CoSER (Wang et al. 2025): novels become plots, conversations with thoughts, and profiles. */
export function coserPipeline({ input, rights, promptOf, chunkTokens = defaultTokens }: CoserOptions): Pipeline {
  return {
    name: 'coser',
    about: 'Plots, conversations with inner thoughts and profiles of novels, after CoSER.',
    async *records(signal) {
      for await (const { key, title, author, text, file } of readBooks(input)) {
        signal.throwIfAborted();
        const language = languageOf(text.slice(0, 100_000));
        for (const [index, { from, to }] of storyChunks(text, chunkTokens).entries()) {
          const clean = index === 0 ? withoutRightsLines(text.slice(from, to)) : text.slice(from, to);
          yield {
            id: `${key}/${index}`,
            book: key,
            title,
            author,
            language,
            index,
            from,
            text: withoutManyTabs(clean),
            provenance: { stage: 'input', sources: [{ file, from, to }], models: [], promptHashes: [] },
          } satisfies StoryChunk;
        }
      }
    },
    stages: [
      extractStage(promptOf('coser/extract')),
      refineStage(promptOf('coser/refine')),
      namesStage(promptOf('coser/names')),
      profilesStage(promptOf('coser/profile')),
    ],
    async *rows(record, takenOf) {
      const book = record as CoserBook;
      const file = `books/${book.book}.json`;
      const text = openBookText(book);
      let i_p = 0;
      for await (const taken of takenOf(book.book)) {
        const plot = taken as Plot;
        yield { file, value: text.pieceOf(plot, i_p), piece: 'more' };
        for (const value of plotDialogues(book, plot, i_p, rights)) yield { file: 'dialogues.jsonl', value };
        for (const value of trainingSamples(book, plot, i_p)) yield { file: 'training-sharegpt.jsonl', value };
        for (const value of circumstancesOf(book, plot, i_p)) yield { file: 'circumstances.jsonl', value };
        i_p += 1;
      }
      yield { file, value: text.end(), piece: 'last' };
    },
  };
}
