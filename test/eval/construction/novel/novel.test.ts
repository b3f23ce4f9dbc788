import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { importBeyondDialogue } from '../../../../characters/importers/beyond-dialogue.ts';
import { knownLabels } from '../../../../eval/construction/novel/align.ts';
import { rowsIn, twoPersonDialogues } from '../../../../eval/construction/novel/dialogues.ts';
import { novelPipeline } from '../../../../eval/construction/novel/pipeline.ts';
import { occurrences, searchNames } from '../../../../eval/construction/novel/roles.ts';
import type { AlpacaRow } from '../../../../eval/construction/novel/rows.ts';
import { halfOf } from '../../../../eval/construction/books/halve.ts';
import { dialogueSchema } from '../../../../eval/construction/records/dialogue.ts';
import { sceneStage } from '../../../../eval/construction/novel/scenes.ts';
import type { Role } from '../../../../eval/construction/novel/roles.ts';
import type { StageContext } from '../../../../eval/construction/runner/stage.ts';
import { openPrompts } from '../../../../eval/construction/runner/prompts.ts';
import { openScratch } from '../../scratch.ts';
import { build, filesOf, jsonLines } from '../rig/build-rig.ts';
import { scriptedModel } from '../rig/scripted-model.ts';
import { novelScript, roleTable } from './novel-script.ts';

const books = path.resolve(import.meta.dirname, '../books-in-public-domain');

describe('the rules of Beyond Dialogue', () => {
  it('halves a line after the last good separator before its middle', () => {
    expect(halfOf('abc.defghij')).toBe(4);
    expect(halfOf('ab,cdefgh')).toBe(3);
  });

  it('looks for the shortest of names that contain each other, so that no mention counts twice', () => {
    const names = searchNames({ name: '周伯通', aliases: ['伯通', '老顽童'] });
    expect(names).toEqual(['伯通', '老顽童']);
    expect(occurrences('周伯通笑道，老顽童来也。', names)).toBe(2);
  });

  it('reads rows of speech and leaves out rows with only actions', () => {
    expect(rowsIn('Holmes|Come in.（rises）\nnonsense\nWatson｜（nods）\nWatson|Thank you.')).toEqual([
      { role: 'Holmes', dialogue: 'Come in.（rises）' },
      { role: 'Watson', dialogue: 'Thank you.' },
    ]);
  });

  it('makes dialogues of exactly two from the partner to the role, of four rows at least', () => {
    const rows = Array.from('HWHHWHXWHWHW').map((role, at) => ({ role, dialogue: `${at}` }));
    expect(twoPersonDialogues(rows, 'H').map((own) => own.map(({ dialogue }) => dialogue))).toEqual([
      ['1', '2 3', '4', '5'],
      ['7', '8', '9', '10'],
    ]);
    expect(twoPersonDialogues(rows.slice(0, 3), 'H')).toEqual([]);
  });

  it('leaves out a chunk with more than one scene, and one that names no role six times', async () => {
    const [role] = JSON.parse(roleTable('Holmes', 'cold', 'terse')) as Role[];
    const prompt = openPrompts()('novel/scene');
    const stage = sceneStage(prompt, [{ ...(role as Role), aliases: [] }]);
    const run = (text: string, scenes: number) => {
      const askJson = async ({ schema }: { schema: { parse(value: unknown): unknown } }) =>
        schema.parse({ scene: 'A room.', scenes });
      const provenance = { stage: '', sources: [], models: [], promptHashes: [] };
      const chunk = { id: 'a', book: 'a', title: 'A', language: 'en', chapter: '', text, provenance } as const;
      return stage.run([chunk], { askJson } as unknown as StageContext);
    };
    const text = 'Holmes sat. '.repeat(6);
    expect(await run(text, 1)).toMatchObject([{ id: 'a/Holmes', scene: 'A room.' }]);
    await expect(run(text, 2)).rejects.toThrow('more than one scene');
    await expect(run('Holmes sat. '.repeat(5), 1)).rejects.toThrow('no role is named six times');
  });

  it('keeps only labels of the role, in its spelling', () => {
    expect(knownLabels(['COLD', ' proud ', 'kind'], ['Proud', 'cold', 'brave'])).toEqual(['Proud', 'cold']);
  });
});

it.each([
  ['a-scandal-in-bohemia.txt', 'Holmes', 'Watson', 'cold', 'terse', 'en'],
  ['xiyouji-2-4.txt', '悟空', '祖师', '顽皮', '直率', 'zh'],
] as const)(
  '%s becomes aligned dialogues, though one call in ten goes wrong',
  async (book, role, partner, trait, manner, language) => {
    await using scratch = await openScratch();
    const roles = path.join(scratch.path, 'roles.json');
    await writeFile(roles, roleTable(role, trait, manner));
    const out = path.join(scratch.path, 'built');
    const pipeline = novelPipeline({
      input: path.join(books, book),
      rights: 'public domain',
      promptOf: openPrompts(),
      chunkTokens: 2_000,
      roles,
    });
    const script = novelScript(role, partner, trait, manner);
    const model = scriptedModel(script, { faults: 0.1 });
    const report = await build(pipeline, out, model);
    expect(report.stopped).toBeNull();
    expect(report.stages.reduce((sum, { calls }) => sum + calls, 0)).toBe(model.calls.length);
    const extract = report.stages.find(({ stage }) => stage === 'extract');
    const { 'line found in the text': found = 0, 'line not found in the text': lost = 0 } = extract?.counted ?? {};
    expect(found / (found + lost)).toBeGreaterThan(0.9);

    const files = await filesOf(out);
    const dialogues = jsonLines<object>(files.get('dialogues.jsonl')).map((row) => dialogueSchema.parse(row));
    expect(dialogues.length).toBeGreaterThan(1);
    expect(dialogues.length).toBeLessThanOrEqual(10);
    for (const { turns, language: own, labels, provenance } of dialogues) {
      expect(own).toBe(language);
      expect([turns[0]?.speaker, turns.at(-1)?.speaker]).toEqual([partner, role]);
      expect(labels).toMatchObject({ character: [trait], style: [manner], relationship: 6, personality: 'INTP' });
      expect(provenance?.sources[0]?.file).toBe(book);
    }
    const rows = jsonLines<AlpacaRow>(files.get('rpa.jsonl'));
    expect(rows).toHaveLength(dialogues.length);
    expect(rows.every(({ output, system }) => output !== '' && system.includes(trait))).toBe(true);
    expect(jsonLines(files.get('cserp.jsonl'))).toHaveLength(dialogues.length * 5);
    const { packs } = await importBeyondDialogue(path.join(out, language === 'zh' ? 'roles' : 'roles_en'));
    expect(packs.map(({ card }) => card.name)).toEqual([role]);

    const second = scriptedModel(script, { faults: 0.1 });
    await build(pipeline, out, second);
    expect(second.calls).toEqual([]);
    expect(await filesOf(out)).toEqual(files);
  },
);
