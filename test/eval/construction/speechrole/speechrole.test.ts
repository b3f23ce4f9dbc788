import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { unitOf, type Embedder } from '../../../../agents/embeddings/embedder.ts';
import { coserPipeline } from '../../../../eval/construction/coser/pipeline.ts';
import { dialogueSchema } from '../../../../eval/construction/records/dialogue.ts';
import { readRoleSources } from '../../../../eval/construction/roles/role-source.ts';
import { openPrompts } from '../../../../eval/construction/runner/prompts.ts';
import type { StageContext } from '../../../../eval/construction/runner/stage.ts';
import {
  categories,
  duplicateStage,
  keptOf,
  paperThresholds,
  splitStage,
  type RoleDialogue,
} from '../../../../eval/construction/speechrole/dialogues.ts';
import { speechRolePipeline } from '../../../../eval/construction/speechrole/pipeline.ts';
import { readTestData } from '../../../../eval/speechrole/data/test-data.ts';
import { openScratch } from '../../scratch.ts';
import { coserScript } from '../coser/coser-script.ts';
import { build, filesOf, jsonLines } from '../rig/build-rig.ts';
import { scriptedModel } from '../rig/scripted-model.ts';
import { vectorOf } from '../rig/scripted-server.ts';
import { speechRoleScript } from './speechrole-script.ts';

const books = path.resolve(import.meta.dirname, '../books-in-public-domain');
const common = { rights: 'public domain', promptOf: openPrompts() };

const embedder: Embedder = {
  name: 'words',
  model: 'words',
  embed: async (texts) => texts.map((text) => unitOf(vectorOf(text))),
};

it('of four questions with similarities 12 .95, 23 .95, 13 .80 and 34 .91, the first and third are kept at .9', () => {
  const similarities: Readonly<Record<string, number>> = { '01': 0.95, '12': 0.95, '02': 0.8, '23': 0.91 };
  expect(keptOf(4, (left, right) => (similarities[`${left}${right}`] ?? 0) > 0.9)).toEqual([0, 2]);
});

it('two dialogues of a mode are held out: the first, or some that are drawn and stay the same with more dialogues', async () => {
  const dialogues = Array.from({ length: 40 }, (_, at) => ({
    id: `a/single/${at}`,
    role: { key: 'a' },
    mode: 'single',
  }));
  const heldOut = async (by: 'first' | 'seeded', count: number): Promise<readonly string[]> => {
    const input = dialogues.slice(0, count) as unknown as readonly RoleDialogue[];
    const split = await splitStage(new Set(), by).run(input, {} as StageContext);
    return split.flatMap((each) => (each.split === 'test' ? [each.id] : []));
  };
  expect(await heldOut('first', 40)).toEqual(['a/single/0', 'a/single/1']);
  const drawn = await heldOut('seeded', 40);
  expect(drawn).toHaveLength(2);
  expect(drawn).not.toEqual(['a/single/0', 'a/single/1']);
  const last = Math.max(...drawn.map((id) => Number(id.split('/').at(-1))));
  expect(await heldOut('seeded', last + 1)).toEqual(drawn);
});

it('duplicates are compared by the first question, or by all lines', async () => {
  const turns = (user: string, role: string) => [{ user, role }];
  const input = [
    { id: '0', role: { key: 'a', language: 'en' }, mode: 'single', turns: turns('Who are you?', 'A king.') },
    {
      id: '1',
      role: { key: 'a', language: 'en' },
      mode: 'single',
      turns: turns('Who are you?', 'That is my affair alone.'),
    },
  ] as unknown as readonly RoleDialogue[];
  const context = { embed: (texts: readonly string[]) => embedder.embed(texts, {} as never), drop: () => undefined };
  const keptBy = async (by: 'question' | 'dialogue'): Promise<number> =>
    (await duplicateStage(paperThresholds, by).run(input, context as unknown as StageContext)).length;
  expect([await keptBy('question'), await keptBy('dialogue')]).toEqual([1, 2]);
});

it.each([
  ['a-scandal-in-bohemia.txt', ['Sherlock Holmes', 'Doctor Watson', 'King of Bohemia'], 'en'],
  ['xiyouji-2-4.txt', ['孙悟空', '菩提祖师', '混世魔王'], 'zh'],
] as const)(
  'the characters of %s answer questions, though one call in ten goes wrong',
  async (book, people, language) => {
    await using scratch = await openScratch();
    const [novel, out] = [path.join(scratch.path, 'novel'), path.join(scratch.path, 'out')];
    const input = path.join(books, book);
    const [one, two, three] = people;
    await build(
      coserPipeline({ ...common, input, chunkTokens: 2_000 }),
      novel,
      scriptedModel(coserScript([one, two, three]), { faults: 0.1 }),
    );

    const pipeline = speechRolePipeline({
      ...common,
      input: novel,
      requests: 2,
      choices: 2,
      chunkTokens: 1_500,
      thresholds: { context: { en: 0.3, zh: 0.3 }, duplicate: { en: 0.99, zh: 0.99 } },
    });
    const model = scriptedModel(speechRoleScript(), { faults: 0.1 });
    const report = await build(pipeline, out, model, { embedder });
    expect(report.stopped).toBeNull();
    const [generate, context, duplicates] = report.stages;
    expect(generate?.dropped['dialogue of another form']).toBeGreaterThan(0);
    expect(context?.dropped['no context']).toBeGreaterThan(0);
    expect(duplicates?.dropped['asks what another asks']).toBeGreaterThan(0);

    const files = await filesOf(out);
    const dialogues = jsonLines<object>(files.get('dialogues.jsonl')).map((row) => dialogueSchema.parse(row));
    expect(dialogues.every((each) => each.language === language)).toBe(true);
    expect(dialogues.every(({ provenance }) => provenance?.sources[0]?.file === book)).toBe(true);
    expect(dialogues.filter(({ labels }) => categories.includes(labels?.['category'] as never)).length).toBeGreaterThan(
      dialogues.length * 0.9,
    );
    const { samples, problems, dropped } = await readTestData(path.join(out, 'test_data'));
    expect(dropped).toBe(0);
    expect(samples.length).toBeGreaterThan(4);
    expect(samples.every(({ input: { turns, mode } }) => (turns.length === 1) === (mode === 'single'))).toBe(true);
    expect(problems.filter((problem) => !/recording|speech/i.test(problem))).toEqual([]);

    const second = scriptedModel(speechRoleScript(), { faults: 0.1 });
    const failing: Embedder = { ...embedder, embed: () => Promise.reject(new Error('asked twice')) };
    await build(pipeline, out, second, { embedder: failing });
    expect([second.calls, await filesOf(out)]).toEqual([[], files]);
  },
);

it('a role is read from profile and script in the folders of SpeechRole', async () => {
  await using scratch = await openScratch();
  for (const folder of ['role_profiles', 'scripts']) await mkdir(path.join(scratch.path, folder));
  await writeFile(
    path.join(scratch.path, 'role_profiles', 'adler_profile.txt'),
    'I want you to act like Irene Adler from A Scandal in Bohemia.\nYou are a singer of great resolution.',
  );
  await writeFile(
    path.join(scratch.path, 'scripts', 'adler_scripts.txt'),
    'Holmes:「Fire!」\nIrene Adler:「Good night.」\n',
  );
  const roles = await Array.fromAsync(readRoleSources(scratch.path, new AbortController().signal));
  expect(roles).toMatchObject([
    {
      key: 'adler',
      name: 'Irene Adler',
      work: 'A Scandal in Bohemia',
      profile: 'You are a singer of great resolution.',
    },
  ]);
  expect(roles[0]?.scenes[0]?.lines).toHaveLength(2);
});
