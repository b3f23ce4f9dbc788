import path from 'node:path';
import { expect, it } from 'vitest';
import { importRoleBench } from '../../../../characters/importers/rolebench.ts';
import { coserPipeline } from '../../../../eval/construction/coser/pipeline.ts';
import { dialogueSchema } from '../../../../eval/construction/records/dialogue.ts';
import { distinctOf } from '../../../../eval/construction/rolellm/okapi.ts';
import { roleLlmPipeline } from '../../../../eval/construction/rolellm/pipeline.ts';
import { openPrompts } from '../../../../eval/construction/runner/prompts.ts';
import { loadRoleBench } from '../../../../eval/rolebench/test-set.ts';
import { openScratch } from '../../scratch.ts';
import { coserScript } from '../coser/coser-script.ts';
import { build, filesOf, jsonLines } from '../rig/build-rig.ts';
import { scriptedModel } from '../rig/scripted-model.ts';
import { roleLlmScript } from './rolellm-script.ts';

const books = path.resolve(import.meta.dirname, '../books-in-public-domain');
const common = { rights: 'public domain', promptOf: openPrompts() };

it('a question that is nearly an earlier one is left out', () => {
  const questions = ['where did you hide the picture then', 'where did you hide the picture', 'who is norton to you'];
  expect(
    distinctOf(
      questions.map((text) => text.split(' ')),
      0.8,
    ),
  ).toEqual([0, 2]);
});

it.each([
  [
    'a-scandal-in-bohemia.txt',
    ['Sherlock Holmes', 'Doctor Watson', 'King of Bohemia'],
    'rolebench-eng/instruction-generalization',
  ],
  ['xiyouji-2-4.txt', ['孙悟空', '菩提祖师', '混世魔王'], 'rolebench-zh'],
] as const)(
  'the characters of %s are described and instructed, though one call in ten goes wrong',
  async (book, [one, two, three], folder) => {
    await using scratch = await openScratch();
    const [novel, out] = [path.join(scratch.path, 'novel'), path.join(scratch.path, 'out')];
    const source = coserPipeline({ ...common, input: path.join(books, book), chunkTokens: 2_000 });
    await build(source, novel, scriptedModel(coserScript([one, two, three])));
    const pipeline = roleLlmPipeline({
      ...common,
      input: novel,
      candidates: 60,
      questions: ['What is love?', 'How are you?'],
    });
    const model = scriptedModel(roleLlmScript(), { faults: 0.1 });
    const report = await build(pipeline, out, model);
    expect(report.stopped).toBeNull();
    const instruct = report.stages.find(({ stage }) => stage === 'instruct');
    for (const reason of ['low confidence', 'out of the role', 'not to be understood without the script'])
      expect(instruct?.dropped[reason]).toBeGreaterThan(0);

    const files = await filesOf(out);
    const dialogues = jsonLines<object>(files.get('dialogues.jsonl')).map((row) => dialogueSchema.parse(row));
    expect(dialogues.length).toBeGreaterThan(20);
    const rows = jsonLines<{ type: string; generated: string[] }>(files.get(`${folder}/role_specific/train.jsonl`));
    expect(new Set(rows.map(({ type }) => type))).toEqual(new Set(['script_based', 'script_agnostic']));
    const general = ['train', 'test'].flatMap((split) =>
      jsonLines<{ generated: string[] }>(files.get(`${folder}/general/${split}.jsonl`)),
    );
    expect(general.every(({ generated }) => generated.length === 5)).toBe(true);
    expect(jsonLines<{ isKnown: boolean }>(files.get('profiles.jsonl')).every(({ isKnown }) => isKnown)).toBe(true);
    // The benchmark of the paper reads what was built for it.
    const config = { data: out, language: folder === 'rolebench-zh' ? 'zh' : 'en', split: 'instruction', select: {} };
    const { count } = await loadRoleBench(config as unknown as Parameters<typeof loadRoleBench>[0]);
    expect(count).toBe(dialogues.filter(({ labels }) => labels?.['split'] === 'test').length);
    const { packs } = await importRoleBench(out);
    expect(packs.map(({ card }) => card.name).toSorted()).toEqual([one, two, three].toSorted());

    const second = scriptedModel(roleLlmScript(), { faults: 0.1 });
    await build(pipeline, out, second);
    expect([second.calls, await filesOf(out)]).toEqual([[], files]);
  },
);
