import { z } from 'zod';
import { similarity } from '../books/similarity.ts';
import type { Prompt } from '../runner/prompts.ts';
import { Dropped, type GroupStage } from '../runner/stage.ts';
import { environment, type Plot } from './plots.ts';

const answer = z.object({ names: z.record(z.string(), z.string().trim().min(1)) });
const impersonal = 'impersonal';
const leastSimilarity = 0.6;

/** Gives each person of a book one name; crowds and voices leave the lists of characters. */
export function namesStage(prompt: Prompt): GroupStage<Plot, Plot> {
  return {
    name: 'names',
    groupBy: ({ book }) => book,
    estimate: { calls: 0.1, inputTokens: 60, outputTokens: 60, records: 1 },
    async *runGroup(plots, context) {
      let first: Pick<Plot, 'title' | 'author'> | undefined;
      const all = new Set<string>();
      for await (const plot of plots) {
        first ??= { title: plot.title, author: plot.author };
        for (const name of namesIn(plot)) all.add(name);
      }
      if (first === undefined) return;
      const given = [...all].filter((name) => name !== environment).sort();
      const { title, author } = first;
      let names: Readonly<Record<string, string>> = {};
      try {
        names = (await context.askJson({ prompt, values: { title, author, names: given.join('\n') }, schema: answer }))
          .names;
      } catch (fault) {
        if (!(fault instanceof Dropped)) throw fault;
        context.count(`names left as they are: ${fault.reason}`);
        names = Object.fromEntries(given.map((name) => [name, name]));
      }
      const official = new Map(given.map((name) => [name, officialName(name, names)]));
      for (const [name, to] of official) {
        if (to === impersonal) context.count('impersonal name');
        else if (to !== name) context.count('name replaced');
      }
      for await (const plot of plots) yield renamed(plot, (name) => official.get(name) ?? name);
    },
  };
}

function namesIn({ key_characters: people, conversation }: Plot): readonly string[] {
  return [
    ...people.map(({ name }) => name),
    ...conversation.flatMap((talk) => [
      ...talk.key_characters.map(({ name }) => name),
      ...talk.dialogues.map(({ character }) => character),
    ]),
  ];
}

/** The official name of a given one; that of the most similar given name if the model left it out. */
export function officialName(name: string, names: Readonly<Record<string, string>>): string {
  if (Object.hasOwn(names, name)) return names[name] as string;
  const near = Object.keys(names)
    .map((other) => ({ other, value: similarity(name, other) }))
    .toSorted((left, right) => right.value - left.value)[0];
  return near !== undefined && near.value >= leastSimilarity ? (names[near.other] as string) : impersonal;
}

/** A plot with official names. Of two entries for one person, the first is kept, with the experience of both. */
function renamed(plot: Plot, nameOf: (name: string) => string): Plot {
  const people = new Map<string, Plot['key_characters'][number]>();
  for (const person of plot.key_characters) {
    const name = nameOf(person.name);
    if (name === impersonal || name === environment) continue;
    const known = people.get(name);
    const experience = [known?.experience, person.experience].filter(Boolean).join(' ');
    people.set(name, { ...(known ?? person), name, experience });
  }
  const conversation = plot.conversation.map((talk) => ({
    ...talk,
    key_characters: talk.key_characters
      .map(({ name, motivation }) => ({ name: nameOf(name), motivation }))
      .filter(({ name }, index, all) => name !== impersonal && all.findIndex((other) => other.name === name) === index),
    // Voices of a crowd keep the words of the book.
    dialogues: talk.dialogues.map(({ character, message }) => {
      const name = nameOf(character);
      return { character: name === impersonal ? character : name, message };
    }),
  }));
  return { ...plot, key_characters: [...people.values()], conversation };
}
