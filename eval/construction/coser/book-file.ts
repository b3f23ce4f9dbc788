import { messageOf, partsOf, type Dialogue } from '../records/dialogue.ts';
import { environment, type Conversation, type Plot } from './plots.ts';
import type { CoserBook } from './profiles.ts';

/** Facts of a character in a book's file besides its profile. */
interface Appearances {
  plots: number;
  conversations: number;
  utterances: number;
}

/**
 * The text of a book as CoSER releases it (`data/final/<book>.json`), which `characters import --from coser` reads. Each
 * plot, in order and at least one, becomes a piece, and the end says what all of them hold of each character.
 */
export function openBookText({ profiles, splitPlotIndex }: CoserBook): {
  readonly pieceOf: (plot: Plot, i_p: number) => string;
  readonly end: () => string;
} {
  const people = new Map<string, Appearances>();
  return {
    pieceOf(plot, i_p) {
      countAppearances(people, plot);
      return `${i_p === 0 ? '{\n "plots": [' : ','}\n  ${indented(writtenPlot(plot, i_p), 2)}`;
    },
    end() {
      const none: Appearances = { plots: 0, conversations: 0, utterances: 0 };
      const datasets = Object.fromEntries(
        Object.entries(profiles).map(([name, profile]) => [name, { ...(people.get(name) ?? none), profile }]),
      );
      return `\n ],\n "character_datasets": ${indented(datasets, 1)},\n "split_plot_index": ${splitPlotIndex}\n}\n`;
    },
  };
}

function writtenPlot(plot: Plot, i_p: number): object {
  return {
    text: plot.text,
    summary: plot.summary,
    prominence: plot.prominence,
    key_characters: plot.key_characters.map((person) => ({ ...person, i_p })),
    chapter: plot.chapter,
    conversation: plot.conversation.map((talk, i_c) => ({
      ...talk,
      key_characters: talk.key_characters.map((person) => ({ ...person, i_p, i_c })),
    })),
    state: plot.state,
    i_chunk: plot.chunk,
    provenance: plot.provenance,
  };
}

function countAppearances(people: Map<string, Appearances>, { key_characters: own, conversation }: Plot): void {
  for (const name of new Set(own.map((person) => person.name))) {
    const person = people.get(name) ?? { plots: 0, conversations: 0, utterances: 0 };
    people.set(name, person);
    person.plots += 1;
    for (const { dialogues } of conversation) {
      const utterances = dialogues.filter(({ character }) => character === name).length;
      if (utterances > 0) person.conversations += 1;
      person.utterances += utterances;
    }
  }
}

/** JSON in a document that is indented by one blank a level. */
function indented(value: object, level: number): string {
  return JSON.stringify(value, undefined, 1).replaceAll('\n', `\n${' '.repeat(level)}`);
}

/** The conversations of a plot as dialogues, with their place and whether they are held out. */
export function plotDialogues(book: CoserBook, plot: Plot, i_p: number, rights: string): readonly Dialogue[] {
  return plot.conversation.map((talk, i_c) => ({
    id: `${book.book}/p${i_p}/c${i_c}`,
    language: book.language,
    source: book.title,
    rights,
    scene: talk.scenario,
    profiles: Object.fromEntries(
      [...new Set([...talk.key_characters.map(({ name }) => name), ...speakersOf(talk).map(([name]) => name)])].flatMap(
        (name) => {
          const profile = book.profiles[name];
          return profile ? [[name, profile]] : [];
        },
      ),
    ),
    turns: talk.dialogues.map(({ character, message }) => ({
      speaker: character,
      kind: character === environment ? ('environment' as const) : ('character' as const),
      ...partsOf(message),
    })),
    labels: { split: i_p < book.splitPlotIndex ? 'train' : 'test', topic: talk.topic, book: book.book, i_p, i_c },
    provenance: plot.provenance as Dialogue['provenance'],
  }));
}

/** Speakers of a conversation with the number of their utterances, the most talkative first. */
export function speakersOf({ dialogues }: Conversation): readonly (readonly [name: string, count: number])[] {
  const counts = new Map<string, number>();
  for (const { character } of dialogues) counts.set(character, (counts.get(character) ?? 0) + 1);
  return [...counts].toSorted(([, left], [, right]) => right - left);
}

/** A message without thoughts, as others get it. */
export function heardMessage(message: string): string {
  return messageOf({ speaker: '', kind: 'character', ...partsOf(message) }, { withThought: false });
}

/** The experiences, profile and motivation of a character that a prompt may hold. */
export function personIn(
  plot: Plot,
  talk: Conversation,
  name: string,
): { readonly motivation: string; readonly experience: string; readonly description: string } {
  const person = plot.key_characters.find((one) => one.name === name);
  const motivation = talk.key_characters.find((one) => one.name === name)?.motivation ?? '';
  return { motivation, experience: person?.experience ?? '', description: person?.description ?? '' };
}
