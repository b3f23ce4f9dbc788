import type { Prompt } from '../runner/prompts.ts';
import { Dropped, type DataRecord, type GroupStage, type StageContext } from '../runner/stage.ts';
import { languageRule, type TextLanguage } from '../runner/words.ts';
import { environment, type Plot } from './plots.ts';

/** The characters of a book of CoSER. Its plots are the records that the stage was given. */
export interface CoserBook extends DataRecord {
  readonly book: string;
  readonly title: string;
  readonly author: string;
  readonly language: TextLanguage;
  readonly profiles: Readonly<Record<string, string>>;
  /** Number of plots with each character. */
  readonly plotsOf: Readonly<Record<string, number>>;
  /** Plots from this index on are held out. */
  readonly splitPlotIndex: number;
}

const trainShare = 0.9;
/** Notes of a character are cut to this length: about 12,000 tokens of English. */
const longestNotes = 48_000;

/** Number of plots of a book that are for training. */
export function splitIndex(count: number): number {
  return Math.floor(count * trainShare);
}

/** Writes a profile of each character from the plots for training; makes one record of a book. */
export function profilesStage(prompt: Prompt): GroupStage<Plot, CoserBook> {
  return {
    name: 'profiles',
    groupBy: ({ book }) => book,
    estimate: { calls: 0.6, inputTokens: 2_500, outputTokens: 600, records: 0.1 },
    async *runGroup(plots, context) {
      let first: Plot | undefined;
      const splitPlotIndex = splitIndex(plots.count);
      const counts = new Map<string, number>();
      const notes = new Map<string, string>();
      let index = 0;
      for await (const plot of plots) {
        first ??= plot;
        for (const { name } of plot.key_characters) counts.set(name, (counts.get(name) ?? 0) + 1);
        if (index < splitPlotIndex) takeNotes(notes, plot);
        index += 1;
      }
      if (first === undefined) return;
      const { book, title, author, language } = first;
      const profiles: Record<string, string> = {};
      for (const name of [...counts.keys()].sort())
        profiles[name] = await profileOf(name, { notes: notes.get(name) ?? '', first, prompt }, context);
      yield { id: book, book, title, author, language, profiles, plotsOf: Object.fromEntries(counts), splitPlotIndex };
    },
  };
}

async function profileOf(
  name: string,
  { notes, first, prompt }: { readonly notes: string; readonly first: Plot; readonly prompt: Prompt },
  context: StageContext,
): Promise<string> {
  if (notes === '') {
    context.count('profile left empty: only in plots that are held out');
    return '';
  }
  const { title, author, language } = first;
  const values = {
    title,
    author,
    name,
    notes: notes.slice(0, longestNotes).toWellFormed(),
    language: languageRule(language),
  };
  try {
    return await context.askText({ part: name, prompt, values, read: (reply) => afterMarker(reply) });
  } catch (fault) {
    if (!(fault instanceof Dropped)) throw fault;
    context.count(`profile left empty: ${fault.reason}`);
    return '';
  }
}

/** Adds notes on the characters of a plot to those of earlier plots, up to the length that a prompt takes. */
function takeNotes(notes: Map<string, string>, plot: Plot): void {
  for (const name of new Set(plot.key_characters.map((person) => person.name))) {
    const before = notes.get(name);
    if (before !== undefined && before.length >= longestNotes) continue;
    const more = notesOn(name, plot);
    if (more !== undefined) notes.set(name, before === undefined ? more : `${before}\n\n${more}`);
  }
}

function afterMarker(reply: string): string | undefined {
  const [, profile] = reply.split(/={3,}\s*Profile\s*={3,}/i);
  return profile?.trim() || undefined;
}

function notesOn(name: string, { key_characters: people, summary, conversation }: Plot): string | undefined {
  const person = people.find((one) => one.name === name);
  if (person === undefined || name === environment) return undefined;
  const talks = conversation
    .filter(({ dialogues }) => dialogues.some(({ character }) => character === name))
    .map(({ dialogues }) => dialogues.map(({ character, message }) => `${character}: ${message}`).join('\n'));
  return [`Plot: ${summary}`, `${name}: ${person.description} ${person.experience}`, ...talks].join('\n');
}
