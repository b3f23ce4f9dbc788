import { hash } from 'node:crypto';
import { seededRandom } from '../../statistics.ts';
import { heardMessage, personIn, speakersOf } from './book-file.ts';
import { environment, type Conversation, type Plot } from './plots.ts';
import type { CoserBook } from './profiles.ts';

/** One training sample in ShareGPT's form, with the tags of CoSER. */
export interface ShareGptSample {
  readonly id: string;
  readonly conversations: readonly { readonly from: 'system' | 'human' | 'assistant'; readonly value: string }[];
}

export const conversationStart = '===Conversation Start===';
export const chatEnd = '<END CHAT>';

type Random = () => number;

interface Part {
  readonly book: CoserBook;
  readonly plot: Plot;
  readonly talk: Conversation;
  readonly withThoughts: boolean;
  readonly withOthers: boolean;
}

/**
 * Training samples of a plot, none if it is held out: for each conversation with and without thoughts, and with and without the
 * profiles of others, one sample for each speaker, and now and then one that predicts the next speaker. Seeded by ids.
 */
export function trainingSamples(book: CoserBook, plot: Plot, i_p: number): readonly ShareGptSample[] {
  if (i_p >= book.splitPlotIndex) return [];
  const variants = [true, false].flatMap((withThoughts) =>
    [true, false].map((withOthers) => ({ withThoughts, withOthers })),
  );
  return plot.conversation.flatMap((talk, i_c) =>
    variants.flatMap((variant, index) => {
      const id = `${book.book}/p${i_p}/c${i_c}/v${index}`;
      const random = seededRandom(hash('sha1', id, 'buffer').readUInt32BE(0));
      const part: Part = { book, plot, talk, ...variant };
      const samples = speakersOf(talk).map(([name]) => speakerSample(`${id}/${name}`, name, part, random));
      return random() < 0.1 ? [...samples, nextSpeakerSample(`${id}/next-speaker`, part, random)] : samples;
    }),
  );
}

function speakerSample(id: string, name: string, part: Part, random: Random): ShareGptSample {
  const { talk, withThoughts } = part;
  const turns: { from: 'human' | 'assistant'; value: string }[] = [{ from: 'human', value: conversationStart }];
  for (const { character, message } of talk.dialogues) {
    const isOwn = character === name;
    const said = (isOwn && withThoughts) || character === environment ? message : heardMessage(message);
    const from = isOwn ? 'assistant' : 'human';
    const last = turns.at(-1);
    // Neighbours of one side are one message.
    if (last?.from === from) last.value += `\n\n${character}: ${said}`;
    else turns.push({ from, value: `${character}: ${said}` });
  }
  const system = name === environment ? environmentSystem(part) : characterSystem(name, part, random);
  return { id, conversations: [{ from: 'system', value: system }, ...turns] };
}

const openings: readonly ((name: string, title: string) => string)[] = [
  (name, title) => `You are ${name} from ${title}.`,
  (name, title) => `Play ${name}, a character of ${title}.`,
  (name, title) => `In this conversation you act as ${name} of ${title}.`,
  (name, title) => `Speak and think as ${name} from the book ${title}.`,
];

/** Ways to head a section, with their shares: plain 40, `=` 30, `#` 20, `*` 10. */
const headings: readonly (readonly [share: number, head: (title: string) => string])[] = [
  [0.4, (title) => `${title}:`],
  [0.7, (title) => `===${title}===`],
  [0.9, (title) => `# ${title}`],
  [1, (title) => `**${title}**`],
];

const titles = {
  profile: ['Your character', 'About you', 'Profile'],
  scenario: ['Current scenario', 'The scene', 'Situation'],
  others: ['The other characters', 'People around you'],
  motivation: ['Your inner thoughts', 'What moves you'],
  plot: ['The plot', 'Background of the scene'],
  experience: ['Your part in this plot', 'What you go through'],
  rules: ['Form of your output', 'How to answer'],
} as const;

function characterSystem(name: string, part: Part, random: Random): string {
  const { book, plot, talk, withOthers, withThoughts } = part;
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  const roll = random();
  const head = (headings.find(([share]) => roll < share) ?? headings[0])?.[1] ?? String;
  const { motivation, experience, description } = personIn(plot, talk, name);
  const others = talk.key_characters.filter((one) => one.name !== name);
  const section = (title: keyof typeof titles, text: string, isIn = true): string =>
    text.trim() === '' || !isIn ? '' : `${head(pick(titles[title]))}\n${text.trim()}`;
  const [withPlot, withMotivation, withExperience] = [random() < 0.5, random() < 0.5, random() < 0.5];
  const thoughts =
    'Put thoughts, which others do not see, in [brackets] and actions in (parentheses), before what you say.';
  return [
    pick(openings)(name, book.title),
    section('profile', [description, book.profiles[name] ?? ''].filter(Boolean).join('\n\n')),
    section('plot', plot.summary, withPlot),
    section('scenario', talk.scenario),
    section(
      'others',
      others
        .map((one) => `${one.name}: ${book.profiles[one.name] ?? personIn(plot, talk, one.name).description}`)
        .join('\n\n'),
      withOthers,
    ),
    section('motivation', motivation, withMotivation),
    section('experience', experience, withExperience),
    section('rules', withThoughts ? thoughts : 'Put actions in (parentheses); write no thoughts.'),
  ]
    .filter(Boolean)
    .join('\n\n');
}

function environmentSystem({ book, talk }: Part): string {
  const people = talk.key_characters.map(({ name }) => name).join(', ');
  return [
    `You are the environment of a scene from ${book.title}: you say what changes around the characters, what crowds do, what is heard and seen.`,
    `Scenario:\n${talk.scenario}`,
    `You never say what these characters do: ${people}. One to three sentences at a time.`,
  ].join('\n\n');
}

function nextSpeakerSample(id: string, { plot, talk, book }: Part, random: Random): ShareGptSample {
  const speakers = speakersOf(talk);
  const major = new Set(talk.key_characters.map(({ name }) => name));
  const system = [
    `You predict who speaks next in a scene from ${book.title}: one of ${speakers.map(([name]) => name).join(', ')}; "random" if it is open; ${chatEnd} if the scene is over. Answer with the name alone.`,
    `Plot:\n${plot.summary}`,
    `Scenario:\n${talk.scenario}`,
  ].join('\n\n');
  const turns: ShareGptSample['conversations'][number][] = [{ from: 'system', value: system }];
  let given = conversationStart;
  for (const { character, message } of talk.dialogues) {
    const isMinor = !major.has(character) && character !== environment;
    turns.push(
      { from: 'human', value: given },
      { from: 'assistant', value: isMinor && random() < 0.25 ? 'random' : character },
    );
    given = `${character}: ${heardMessage(message)}`;
  }
  turns.push({ from: 'human', value: given }, { from: 'assistant', value: chatEnd });
  return { id, conversations: turns };
}
