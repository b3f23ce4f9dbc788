import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

const line = (character: string, message: string): object => ({ character, message });

/** A scene in CoSER's schema, with texts of our own; `older` has the field names of the official set. */
export function sceneRow(book: string, plot: number, { older = false, tag = 'id' } = {}): Record<string, unknown> {
  const inside = older ? 'thought' : 'motivation';
  return {
    scenario: `A kitchen on the ship of ${book}, after supper. The stove is cold.`,
    topic: 'Who ate the pie',
    key_characters: [
      { name: 'Ada', [inside]: 'Ada wants the truth, and she has a suspicion.' },
      { name: 'Ben', [inside]: 'Ben ate the pie and is ashamed.' },
    ],
    dialogues: [
      line('Ben', '[She must not ask me.] (wipes his mouth) A fine evening, Ada.'),
      line('Ada', '[He has crumbs on his sleeve.] Where is the pie, Ben?'),
      line('Ada', '(points at the shelf) It stood right there.'),
      line('Environment', 'The stove ticks as it cools.'),
      line('Ben', '[I cannot bear it.] I ate it. All of it.'),
      line('Ada', 'Then you will bake another, and I shall watch you.'),
      line('Ada', 'Begin with the flour.'),
    ],
    speaking_characters_w_env: ['Ada', 'Ben', 'Environment'],
    major_characters: ['Ada', 'Ben'],
    weight: 1.5,
    plot: {
      summary: 'A pie is gone, and two friends talk about it.',
      prominence: 50,
      key_characters: [
        { name: 'Ada', description: 'The cook, who sees everything.', [older ? 'summary' : 'experience']: 'She asks.' },
        { name: 'Ben', description: 'The mate, always hungry.', [older ? 'summary' : 'experience']: 'He confesses.' },
      ],
      chapter: 'One',
      state: 'finished',
      i_chunk: 0,
      i_p: plot,
    },
    character_profiles: { Ada: 'Ada has cooked on this ship for ten years.', Ben: 'Ben came aboard last spring.' },
    book,
    ...(older ? { i_p: plot } : {}),
    i_c: 0,
    tag,
  };
}

/** Writes a test set of six books, and the books themselves. Resolves to the paths of both. */
export async function writeScenes(folder: string): Promise<{ readonly data: string; readonly books: string }> {
  const data = path.join(folder, 'test_set.json');
  const books = path.join(folder, 'books');
  await mkdir(books, { recursive: true });
  const names = ['Alba', 'Brisk', 'Corvo', 'Delta', 'Ember', 'Flora'];
  const rows = names.map((name, at) => sceneRow(name, 2, { older: at % 2 === 0, tag: at < 3 ? 'id' : 'ood' }));
  await writeFile(data, JSON.stringify(rows));
  for (const name of names) await writeFile(path.join(books, `${name}.json`), JSON.stringify(bookOf(name)));
  return { data, books };
}

/** A book of three plots, the last of which is held out and holds the scene of the test set. */
function bookOf(name: string): object {
  const plot = (at: number, summary: string, said: string): object => ({
    text: `Plot ${at} of ${name}. ${summary}`,
    summary,
    key_characters: [{ name: 'Ada', description: 'The cook.', experience: `Ada lives through plot ${at}.` }],
    conversation: [
      {
        scenario: `Scene ${at}`,
        topic: 'pie',
        key_characters: [],
        dialogues: [line('Ben', `[hidden ${at}] ${said}`)],
      },
    ],
  });
  return {
    plots: [
      plot(0, 'Ada burns a pie in a storm.', 'The pie is burning!'),
      plot(1, 'Ada signs on as cook.', 'Welcome aboard.'),
      plot(2, 'The pie is gone.', 'I ate the pie. All of the pie.'),
    ],
    character_datasets: {},
    split_plot_index: 2,
  };
}
