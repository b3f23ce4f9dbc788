import path from 'node:path';
import { z } from 'zod';
import { packOf, type ImportReport, type Problem } from './draft.ts';
import { filesEnding, jsonOf, misfit } from './files.ts';

const conversation = z.looseObject({
  scenario: z.string().optional(),
  dialogues: z.array(z.looseObject({ character: z.string(), message: z.string() })),
});
const plot = z.looseObject({
  summary: z.string().default(''),
  // Experience of each character in the plot; `summary` in the official test set.
  key_characters: z
    .array(z.looseObject({ name: z.string(), experience: z.string().optional(), summary: z.string().optional() }))
    .default([]),
  conversation: z.array(conversation).default([]),
});
const book = z.looseObject({
  plots: z.array(plot),
  character_datasets: z.record(z.string(), z.looseObject({ profile: z.string().default('') })),
  // Plots from this one on are held out.
  split_plot_index: z.number().int().min(0).optional(),
});

type Conversation = z.infer<typeof conversation>;

/** Least answers of a character in the whole book; fewer are too little to play it. */
const fewestLines = 5;

/**
 * Imports a book of CoSER (`data/final/<book>.json`): each character with a profile and a part in the conversations.
 * Messages hold `[thoughts]`, `(actions)` and speech; only speech becomes lines. Plots in which a character took part
 * become its experiences. Plots that are held out are left out: the benchmark acts them with the character.
 */
export async function importCoser(place: string): Promise<ImportReport> {
  const problems: Problem[] = [];
  const packs: ImportReport['packs'][number][] = [];
  for (const file of await filesEnding(place, '.json')) {
    const value = await jsonOf(file, problems);
    if (value === undefined) continue;
    const parsed = book.safeParse(value);
    if (!parsed.success) {
      problems.push({ where: file, what: `not a CoSER book (data/final/*.json): ${misfit(parsed.error)}` });
      continue;
    }
    const { plots: all, character_datasets: people, split_plot_index: heldOutFrom = all.length } = parsed.data;
    const plots = all.slice(0, heldOutFrom);
    const title = path.basename(file, '.json');
    for (const [name, { profile }] of Object.entries(people)) {
      const where = `${file}: ${name}`;
      if (name === 'Environment') continue;
      const exchanges = plots.flatMap((each) => each.conversation.flatMap((talk) => exchangesIn(talk, name)));
      if (profile.trim() === '') problems.push({ where, what: 'no profile' });
      if (exchanges.length < fewestLines) {
        problems.push({ where, what: `only ${exchanges.length} answers in the book; skipped` });
        continue;
      }
      const experiences = plots.flatMap((each) => experiencesIn(each, name));
      const rights = 'CoSER (for research only; check whether the book is in the public domain)';
      const pack = packOf(
        { name, key: `${name} ${title}`, work: title, rights, profile, exchanges, experiences },
        where,
        problems,
      );
      if (pack !== undefined) packs.push(pack);
    }
  }
  return { packs, problems };
}

/** Plot summary with the character's experience in it; empty for plots without the character. */
function experiencesIn({ summary, key_characters: people }: z.infer<typeof plot>, name: string): string[] {
  const own = people.find((one) => one.name === name);
  return own === undefined ? [] : [[summary, own.experience ?? own.summary ?? ''].filter(Boolean).join('\n')];
}

/** The character's answers to the previous speaker, skipping the narrator. */
function exchangesIn({ dialogues }: Conversation, name: string): { ask: string; reply: string }[] {
  const said = dialogues
    .filter(({ character }) => character !== 'Environment')
    .map(({ character, message }) => ({ character, text: spokenIn(message) }))
    .filter(({ text }) => text !== '');
  return said.flatMap((line, index) => {
    const before = said[index - 1];
    if (line.character !== name || before === undefined || before.character === name) return [];
    return [{ ask: before.text, reply: line.text }];
  });
}

function spokenIn(message: string): string {
  return message
    .replaceAll(/\[[^\]]*\]/gu, ' ')
    .replaceAll(/\([^)]*\)|（[^）]*）/gu, ' ')
    .replaceAll(/\s+/gu, ' ')
    .trim();
}
