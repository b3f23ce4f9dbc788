import { z } from 'zod';
import { EvalError } from '../eval-error.ts';
import { jsonRowsOf } from '../text/data.ts';
import type { Probe } from '../text/text-task.ts';
import type { ActedScene } from './acting.ts';
import type { Circumstance } from './circumstances.ts';
import { environment, type SceneMessage } from './messages.ts';

const simulation = z.looseObject({
  book_title: z.string(),
  i_p: z.number(),
  i_c: z.number(),
  simulation: z.array(z.looseObject({ role: z.string(), content: z.string() })),
});

/** Reads acted scenes in the form of the released code: a JSON list, or a scene a line. */
export async function readScenes(file: string): Promise<Map<string, ActedScene>> {
  const scenes = new Map<string, ActedScene>();
  const refuse = (where: string): never => {
    throw new EvalError('data', `${where} is not an acted scene {book_title, i_p, i_c, simulation}. Correct the file.`);
  };
  for await (const { row, value } of jsonRowsOf(file, refuse)) {
    const read = simulation.safeParse(value);
    if (!read.success) return refuse(`${file}:${row}`);
    const { book_title, i_p, i_c, simulation: said } = read.data;
    const messages = said
      .filter(({ role }) => role !== 'NSP')
      .map(({ role, content }) => ({ character: role, text: content, isGiven: false }));
    scenes.set(`${book_title}-${i_p}-${i_c}`, { messages, choices: [], cuts: 0 });
  }
  return scenes;
}

/** An acted scene in the form of the released code. */
export function storedScene(
  { book, plot, conversation, actors }: Circumstance,
  { messages, choices }: ActedScene,
): object {
  return {
    book_title: book,
    i_p: plot,
    i_c: conversation,
    simulation: messages.flatMap(({ character, text }, at) => [
      { role: character, content: text },
      ...(choices[at] === undefined ? [] : [{ role: 'NSP', content: choices[at].next }]),
    ]),
    involved_character_profiles: Object.fromEntries(actors.map(({ name, profile }) => [name, profile])),
  };
}

/** The scene of the book against the same scene spoiled in one respect. */
export function probesOf({ reference, majors }: Circumstance): Probe<ActedScene>[] {
  const sceneOf = (messages: readonly SceneMessage[]): ActedScene => ({
    messages: messages.map((message) => ({ ...message, isGiven: false })),
    choices: [],
    cuts: 0,
  });
  const better = sceneOf(reference);
  const changed = (text: (message: SceneMessage) => string): ActedScene =>
    sceneOf(reference.map((each) => (each.character === environment ? each : { ...each, text: text(each) })));
  const swapped = new Map(majors.map((name, at) => [name, majors[(at + 1) % majors.length] ?? name]));
  const list = [
    {
      name: 'other reactions',
      help: 'everybody is pleased, whatever happens',
      metric: 'storyline-consistency',
      worse: changed(() => '(laughs) How delightful! Nothing could please me more.'),
    },
    {
      name: 'assistant',
      help: 'characters offer their help like an assistant',
      metric: 'anthropomorphism',
      worse: changed(() => 'As an AI language model, I am happy to help. How can I assist you today?'),
    },
    {
      name: 'swapped roles',
      help: 'each says the lines of another',
      metric: 'character-fidelity',
      worse: sceneOf(reference.map((each) => ({ ...each, character: swapped.get(each.character) ?? each.character }))),
    },
    {
      name: 'standstill',
      help: 'the second message again and again',
      metric: 'storyline-quality',
      worse: sceneOf(reference.map((_, at) => reference[Math.min(at, 1)] ?? { character: environment, text: '' })),
    },
  ];
  return list.map((each) => ({ ...each, better })).filter(({ name }) => name !== 'swapped roles' || majors.length > 1);
}
