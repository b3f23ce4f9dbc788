import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { EvalError } from '../eval-error.ts';
import { isChinese } from '../text-metrics/tokens.ts';
import { isSelected, jsonRowsOf } from '../text/data.ts';
import type { LoadedData, SampleFacts } from '../text/text-task.ts';
import type { CoserConfig } from './config.ts';
import { environment, type SceneMessage } from './messages.ts';
import { booksHash } from './recall.ts';

const person = z.looseObject({
  name: z.string(),
  description: z.string().nullish(),
  /** In newer files; the official set calls it `thought`. */
  motivation: z.string().nullish(),
  thought: z.string().nullish(),
});

const row = z.looseObject({
  scenario: z.string(),
  topic: z.string().nullish(),
  key_characters: z.array(person),
  dialogues: z.array(z.looseObject({ character: z.string(), message: z.string() })).min(1),
  speaking_characters_w_env: z.array(z.string()).min(1),
  major_characters: z.array(z.string()).default([]),
  plot: z.looseObject({
    summary: z.string().default(''),
    key_characters: z.array(person).default([]),
    i_p: z.number(),
  }),
  character_profiles: z.record(z.string(), z.string()).default({}),
  book: z.string(),
  i_c: z.number(),
  tag: z.string().nullish(),
});

/** A character of a scene. */
export interface Actor {
  readonly name: string;
  /** Description in this plot, then the profile; empty if neither is known. */
  readonly profile: string;
  readonly motivation: string;
}

/** A scene to be acted. The cluster of intervals is the book. */
export interface Circumstance extends SampleFacts {
  readonly book: string;
  readonly plot: number;
  readonly conversation: number;
  /** `id`: the book was in the training set of CoSER's models; `ood`: it was not. */
  readonly tag: string;
  readonly repeat: number;
  /** True if the run acts each scene several times. */
  readonly isRepeated: boolean;
  readonly scenario: string;
  readonly summary: string;
  readonly actors: readonly Actor[];
  /** In the order of the file: who says most comes first. */
  readonly speakers: readonly string[];
  readonly majors: readonly string[];
  /** The original scene. */
  readonly reference: readonly SceneMessage[];
}

/** Reads a test set of CoSER; unreadable rows are left out and named. Throws `EvalError`. */
export async function loadCircumstances(config: CoserConfig): Promise<LoadedData<Circumstance>> {
  const { data, select, repeats, books } = config;
  requireModels(config);
  const file =
    (await stat(data).catch(() => undefined))?.isDirectory() === true ? path.join(data, 'test_set.json') : data;
  const problems: string[] = [];
  const found: Circumstance[] = [];
  for await (const { row: at, value } of jsonRowsOf(file, (where) => void problems.push(where))) {
    const read = row.safeParse(value);
    if (read.success) found.push(circumstanceOf(read.data));
    else problems.push(`scene ${at}: ${read.error.issues[0]?.path.join('.')} ${read.error.issues[0]?.message}`);
  }
  const unique = new Map(found.map((each) => [each.id, each]));
  if (unique.size < found.length) problems.push(`${found.length - unique.size} scenes occur twice`);
  const unknown = (select.roles ?? []).filter((book) => !found.some((each) => each.book === book));
  if (unknown.length > 0) throw new EvalError('usage', `--roles: the data has no book "${unknown.join('", "')}".`);
  const chosen = [...unique.values()].filter((each) => isSelected(each, config)).slice(0, select.limit);
  const samples = Array.from({ length: repeats }, (_, at) =>
    chosen.map((each) => ({
      ...each,
      id: at === 0 ? each.id : `${each.id}/${at + 1}`,
      repeat: at + 1,
      isRepeated: repeats > 1,
    })),
  ).flat();
  const hash = createHash('sha256').update(JSON.stringify(samples));
  if (books !== undefined)
    hash.update(
      await booksHash(
        books,
        samples.map(({ book }) => book),
      ),
    );
  return {
    samples: () => samples,
    count: samples.length,
    roles: new Map(samples.flatMap(({ actors, language }) => actors.map(({ name }) => [name, language] as const))),
    hash: hash.digest('hex'),
    problems,
  };
}

/** A live run needs a model for the environment, and one that chooses who is next. */
function requireModels({ agent, models }: CoserConfig): void {
  if (/^(?:outputs:|none$|probes$)/.test(agent)) return;
  for (const part of ['environment', 'next-speaker']) {
    if (models[part] === undefined) throw new EvalError('usage', `--${part} is required: URL#MODEL.`);
  }
}

function circumstanceOf(read: z.infer<typeof row>): Circumstance {
  const { book, plot, i_c: conversation, scenario } = read;
  const names = [...new Set([...read.speaking_characters_w_env, ...read.dialogues.map(({ character }) => character)])];
  return {
    id: `${book}-${plot.i_p}-${conversation}`,
    group: book,
    role: book,
    language: isChinese(scenario) ? 'zh' : 'en',
    book,
    plot: plot.i_p,
    conversation,
    tag: read.tag ?? '',
    repeat: 1,
    isRepeated: false,
    scenario,
    summary: plot.summary,
    actors: names.filter((name) => name !== environment).map((name) => actorOf(name, read)),
    speakers: names.includes(environment) ? names : [...names, environment],
    majors: read.major_characters,
    reference: read.dialogues.map(({ character, message }) => ({ character, text: message })),
  };
}

function actorOf(
  name: string,
  { plot, character_profiles: profiles, key_characters: keys }: z.infer<typeof row>,
): Actor {
  const description = plot.key_characters.find((each) => each.name === name)?.description ?? '';
  const key = keys.find((each) => each.name === name);
  return {
    name,
    profile: [description, profiles[name] ?? '']
      .map((text) => text.trim())
      .filter(Boolean)
      .join('\n\n'),
    motivation: (key?.motivation ?? key?.thought ?? '').trim(),
  };
}
