import { locate, locatePassage, sentencesOf } from '../books/locate.ts';
import { Dropped, type GroupStage, type Made, type Source, type StageContext } from '../runner/stage.ts';
import type { Prompt } from '../runner/prompts.ts';
import { languageRule } from '../runner/words.ts';
import { carryFrom, continuationOf } from './carry-over.ts';
import { extraction, type Conversation, type ExtractedPlot, type Plot, type StoryChunk } from './plots.ts';

/** A plot on its way, with its passage. */
interface Found extends Omit<ExtractedPlot, 'first_sentence' | 'last_sentence'> {
  readonly passages: readonly { readonly from: number; readonly to: number; readonly text: string }[];
  readonly chunks: readonly number[];
}

const fewUtterances = 10;

/** Finds the plots of a book, chunk by chunk: what is unfinished in one is continued in the next. */
export function extractStage(prompt: Prompt): GroupStage<StoryChunk, Plot> {
  return {
    name: 'extract',
    groupBy: ({ book }) => book,
    estimate: { calls: 1, inputTokens: 9_500, outputTokens: 4_000, records: 3 },
    async *runGroup(chunks, context) {
      let first: StoryChunk | undefined;
      const sources = new Map<number, readonly Source[]>();
      let index = 0;
      const record = (plot: Found, about: StoryChunk): Made<Plot> => {
        index += 1;
        return recordOf(plot, { first: about, index: index - 1, sources }, context);
      };
      let unfinished: readonly Found[] = [];
      let carried = { text: '', from: 0 };
      for await (const chunk of chunks) {
        first ??= chunk;
        sources.set(chunk.index, chunk.provenance.sources);
        const text = carried.text + chunk.text;
        const from = carried.text === '' ? chunk.from : carried.from;
        const answer = await plotsIn(chunk, { text, unfinished, prompt }, context);
        if (answer === undefined) {
          for (const plot of unfinished) yield record(plot, first);
          unfinished = [];
          carried = { text: '', from: 0 };
          continue;
        }
        const sentences = sentencesOf(text);
        const plots = answer.plots.map((plot) => placed(plot, { text, sentences, from, chunk: chunk.index }, context));
        const merged = continued(unfinished, plots);
        for (const plot of merged) if (plot.state === 'finished') yield record(plot, first);
        unfinished = merged.filter(({ state }) => state === 'truncated');
        const next = answer.next_start ? locate(sentences, answer.next_start) : undefined;
        const start = next === undefined ? undefined : carryFrom(text, sentences[next]?.from ?? 0);
        carried = start === undefined ? { text: '', from: 0 } : { text: text.slice(start), from: from + start };
      }
      if (first !== undefined) for (const plot of unfinished) yield record(plot, first);
    },
  };
}

async function plotsIn(
  { title, author, language, index }: StoryChunk,
  {
    text,
    unfinished,
    prompt,
  }: { readonly text: string; readonly unfinished: readonly Found[]; readonly prompt: Prompt },
  context: StageContext,
) {
  const open = unfinished.map(({ summary, conversation }) => ({ summary, conversation }));
  const values = {
    title,
    author,
    language: languageRule(language),
    unfinished: open.length === 0 ? 'none' : JSON.stringify(open, undefined, 1),
    text,
  };
  try {
    return await context.askJson({
      part: `chunk-${index}`,
      prompt,
      values,
      schema: extraction,
      sampling: { maxTokens: 8_192 },
    });
  } catch (fault) {
    if (!(fault instanceof Dropped)) throw fault;
    context.drop(`chunk: ${fault.reason}`);
    return undefined;
  }
}

function placed(
  plot: ExtractedPlot,
  at: {
    readonly text: string;
    readonly sentences: ReturnType<typeof sentencesOf>;
    readonly from: number;
    readonly chunk: number;
  },
  context: StageContext,
): Found {
  const { first_sentence: first, last_sentence: last, ...rest } = plot;
  const found = locatePassage(at.text, at.sentences, { first, last });
  context.count(found === undefined ? 'plot not found in the text' : 'plot found in the text');
  const passages =
    found === undefined ? [] : [{ from: at.from + found.from, to: at.from + found.to, text: found.text }];
  return { ...rest, passages, chunks: [at.chunk] };
}

/** Joins unfinished plots with those that continue them; one that nothing continues is finished. */
function continued(unfinished: readonly Found[], plots: readonly Found[]): readonly Found[] {
  const joined = new Map<Found, Found>();
  const ended: Found[] = [];
  for (const before of unfinished) {
    const next = continuationOf(
      before,
      plots.filter((plot) => !joined.has(plot)),
    );
    if (next === undefined) ended.push({ ...before, state: 'finished' });
    else joined.set(next, joinedPlot(before, next));
  }
  return [...ended, ...plots.map((plot) => joined.get(plot) ?? plot)];
}

function joinedPlot(before: Found, next: Found): Found {
  const replaced = new Map<string, Conversation>(next.conversation.map((talk) => [talk.scenario, talk]));
  const kept = before.conversation.filter(({ scenario }) => !replaced.has(scenario));
  const known = new Set(next.key_characters.map(({ name }) => name));
  return {
    ...next,
    chapter_title: before.chapter_title || next.chapter_title,
    prominence: Math.max(before.prominence, next.prominence),
    key_characters: [...before.key_characters.filter(({ name }) => !known.has(name)), ...next.key_characters],
    conversation: [...kept, ...next.conversation],
    passages: [...before.passages, ...next.passages],
    chunks: [...before.chunks, ...next.chunks],
  };
}

function recordOf(
  plot: Found,
  {
    first,
    index,
    sources: sourcesOf,
  }: { readonly first: StoryChunk; readonly index: number; readonly sources: ReadonlyMap<number, readonly Source[]> },
  context: StageContext,
): Made<Plot> {
  const { passages, chapter_title: chapter, chunks: from, ...rest } = plot;
  for (const { dialogues } of plot.conversation)
    if (dialogues.length < fewUtterances) context.count(`conversation of fewer than ${fewUtterances} utterances`);
  const { book, title, author, language, provenance } = first;
  const file = provenance.sources[0]?.file ?? book;
  const sources: Source[] =
    passages.length > 0
      ? passages.map((passage) => ({ file, from: passage.from, to: passage.to }))
      : from.flatMap((chunk) => sourcesOf.get(chunk) ?? []);
  return {
    ...rest,
    state: 'finished',
    id: `${book}/p${index}`,
    book,
    title,
    author,
    language,
    chapter,
    chunk: from[0] ?? 0,
    text: passages.map((passage) => passage.text).join('\n'),
    provenance: { ...provenance, sources },
  };
}
