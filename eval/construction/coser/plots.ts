import { z } from 'zod';
import type { DataRecord } from '../runner/stage.ts';
import type { TextLanguage } from '../runner/words.ts';

const text = z.string().trim();
const named = text.min(1).max(120);

/** A plot as a model gives it. */
export const extractedPlot = z.object({
  chapter_title: text.catch(''),
  first_sentence: text.min(1),
  last_sentence: text.min(1),
  prominence: z.coerce.number().min(1).max(100).catch(50),
  summary: text.min(1),
  key_characters: z.array(z.object({ name: named, description: text.catch(''), experience: text.catch('') })),
  conversation: z.array(
    z.object({
      scenario: text.min(1),
      topic: text.catch(''),
      key_characters: z.array(z.object({ name: named, motivation: text.catch('') })),
      dialogues: z.array(z.object({ character: named, message: text.min(1) })).min(2),
    }),
  ),
  state: z.enum(['finished', 'truncated']).catch('finished'),
});

export const extraction = z.object({
  plots: z.array(extractedPlot),
  next_start: text.nullish().catch(null),
});

export type ExtractedPlot = z.infer<typeof extractedPlot>;
export type Conversation = ExtractedPlot['conversation'][number];

/** A part of a book. */
export interface StoryChunk extends DataRecord {
  readonly book: string;
  readonly title: string;
  readonly author: string;
  readonly language: TextLanguage;
  readonly index: number;
  /** Place in the book. */
  readonly from: number;
  readonly text: string;
}

/** A plot of a book. */
export interface Plot extends DataRecord, Omit<ExtractedPlot, 'chapter_title' | 'first_sentence' | 'last_sentence'> {
  readonly book: string;
  readonly title: string;
  readonly author: string;
  readonly language: TextLanguage;
  readonly chapter: string;
  /** Passage of the book; empty if its sentences were not found there. */
  readonly text: string;
  readonly chunk: number;
}

/** Name of the speaker of what happens around the characters. */
export const environment = 'Environment';
