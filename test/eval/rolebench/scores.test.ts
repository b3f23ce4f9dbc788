import { existsSync } from 'node:fs';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { averageOf, paperTables, type RoleBenchScores } from '../../../eval/rolebench/scores.ts';
import { evaluate } from '../../rigs/eval-rig.ts';
import { sharedPath } from '../../shared.ts';
import { openScratch } from '../scratch.ts';

async function put(folder: string, files: Readonly<Record<string, readonly object[]>>): Promise<void> {
  for (const [name, rows] of Object.entries(files)) {
    const place = path.join(folder, name);
    await mkdir(path.dirname(place), { recursive: true });
    await writeFile(place, rows.map((row) => JSON.stringify(row)).join('\n'));
  }
}

const general = (role: string, question: string, ...generated: string[]) => ({ role, question, generated });

const files = {
  'instructions-eng/general.jsonl': [{ instruction: ' Name a sea. ', output: 'the North Sea' }],
  'rolebench-eng/instruction-generalization/general/test.jsonl': [
    general('Nemo', 'Name a sea.', 'the sea is mine', 'no man owns it'),
    general('Alice', 'Name a sea.', 'a pool of tears'),
  ],
  'rolebench-eng/instruction-generalization/role_specific/test.jsonl': [
    {
      ...general('Nemo', ' Who are you? ', 'I am Captain Nemo', 'nobody'),
      type: ['script_based', 'script_agnostic'],
    },
    { ...general('Alice', 'Where are you?', 'in Wonderland'), type: 'script_agnostic' },
  ],
  'answers/general.jsonl': [
    general('Alice', 'Name a sea.', 'the North Sea'),
    general('Nemo', 'Name a sea.', 'the sea'),
  ],
  'answers/specific.jsonl': [
    general('Nemo', 'Who are you?', 'I am Nemo'),
    general('Alice', 'Where are you?', 'in Wonderland'),
    general('Holmes', 'Where are you?', 'in London'),
  ],
};

async function score(folder: string, more: readonly string[]): Promise<RoleBenchScores & { tokens: string }> {
  const { printed } = await evaluate(['rolebench', '--data', folder, '--json', ...more]);
  return JSON.parse(printed) as RoleBenchScores & { tokens: string };
}

describe('scores of RoleBench', () => {
  it('RoleBench gets CUS, RAW and SPE: general answers against the role’s manner and the plain answer', async () => {
    await using scratch = await openScratch();
    await put(scratch.path, files);
    const at = (name: string): string => path.join(scratch.path, 'answers', name);
    const both = ['--general', at('general.jsonl'), '--role-specific', at('specific.jsonl')];
    const { scores, avg, roles, rows, missing, tokens } = await score(scratch.path, both);
    expect(tokens).toBe('alnum');
    // Nemo: “the sea” in “the sea is mine”, F 2 · 1 · 0.5 / 1.5; Alice: nothing in common.
    expect(scores.CUS).toMatchObject({ value: expect.closeTo((2 / 3 + 0) / 2, 10), n: 2, low: null });
    // “the sea” in “the North Sea”: F 2 · 1 · (2/3) / (5/3); Alice: the same words.
    expect(scores.RAW.value).toBeCloseTo((0.8 + 1) / 2, 10);
    // “I am Nemo” in “I am Captain Nemo”: F 6/7.
    expect(scores.SPE.value).toBeCloseTo((6 / 7 + 1) / 2, 10);
    expect(avg).toBeCloseTo((1 / 3 + 0.9 + (6 / 7 + 1) / 2) / 3, 10);
    expect(roles['Alice']).toMatchObject({ CUS: 0, RAW: 1, SPE: 1, script_based: null, script_agnostic: 1 });
    expect(missing).toEqual([]);
    expect(rows.role_specific).toMatchObject({
      outputsWithoutReference: 1,
      unpaired: [{ file: 'outputs', line: 3, role: 'Holmes', question: 'Where are you?' }],
    });
  });

  it('RoleBench takes of a row with several types only the references of each type', async () => {
    await using scratch = await openScratch();
    await put(scratch.path, files);
    const { scores } = await score(scratch.path, [
      '--role-specific',
      path.join(scratch.path, 'answers/specific.jsonl'),
    ]);
    expect(scores.script_based).toMatchObject({ value: expect.closeTo(6 / 7, 10), n: 1 });
    // “I am Nemo” and “nobody” have nothing in common.
    expect(scores.script_agnostic).toMatchObject({ value: 0.5, n: 2 });
  });

  it('RoleBench without plain answers has no RAW and no average, and says why', async () => {
    await using scratch = await openScratch();
    const { 'instructions-eng/general.jsonl': _plain, ...others } = files;
    await put(scratch.path, others);
    const answers = ['--general', path.join(scratch.path, 'answers/general.jsonl')];
    const { scores, avg, missing } = await score(scratch.path, answers);
    expect([scores.RAW.value, scores.SPE.value, avg]).toEqual([null, null, null]);
    expect(missing).toEqual([
      expect.stringContaining('no answers to role_specific questions'),
      expect.stringContaining('instructions-eng'),
    ]);
  });

  it('`eval rolebench` prints the rows of the paper under their own protocol, and explains wrong flags', async () => {
    await using scratch = await openScratch();
    await put(scratch.path, files);
    const data = ['rolebench', '--data', scratch.path];
    const answers = ['--role-specific', path.join(scratch.path, 'answers/specific.jsonl')];
    const { status, printed } = await evaluate([...data, ...answers]);
    expect(status).toBe(0);
    expect(printed).toMatch(/^Protocol: ROUGE-L, tokens alnum, max of the references/);
    expect(printed).toMatch(/Table 3; protocol: ROUGE-L, tokens and references not stated[^]*RoleLLaMA +0\.3294/);
    expect(await evaluate(data)).toMatchObject({ status: 2, printed: expect.stringContaining('--general or --role') });
    expect(await evaluate([...data, ...answers, '--language', 'zh', '--split', 'role'])).toMatchObject({
      status: 2,
      printed: expect.stringContaining('only in English'),
    });
    expect(await evaluate([...data, ...answers, '--split', 'role'])).toMatchObject({
      status: 1,
      printed: expect.stringContaining('role-generalization'),
    });
  });

  it('the averages of the paper are means of the three, except for three rows of Table 5', () => {
    const wrong = paperTables.tables.flatMap(({ table, rows }) =>
      rows
        .filter(({ CUS, RAW, SPE, avg }) => Math.abs((averageOf(CUS, RAW, SPE) as number) - avg) > 0.0005)
        .map(({ system, CUS, RAW, SPE }) => [table, system, averageOf(CUS, RAW, SPE)?.toFixed(4)]),
    );
    expect(wrong).toEqual([
      ['Table 5', 'LLaMA', '0.1700'],
      ['Table 5', 'Alpaca', '0.2810'],
      ['Table 5', 'Vicuna', '0.2469'],
    ]);
    expect(paperTables.tables.map(({ rows }) => rows.length)).toEqual([6, 5, 4]);
  });

  const real = (name: string): string => sharedPath(`data/rolebench-zh-role_specific-${name}.jsonl`);
  it.skipIf(!existsSync(real('test')))(
    'RoleBench scores the Chinese RoleGPT baseline by role, as `eval rouge`',
    async () => {
      await using scratch = await openScratch();
      const place = path.join(scratch.path, 'rolebench-zh/role_specific');
      await mkdir(place, { recursive: true });
      await cp(real('test'), path.join(place, 'test.jsonl'));
      const more = ['--language', 'zh', '--role-specific', real('rolegpt_baseline')];
      const { scores, roles, tokens } = await score(scratch.path, more);
      expect(tokens).toBe('han');
      expect(scores.SPE).toMatchObject({ n: 239, value: expect.closeTo(0.20238753133585216, 14) });
      expect((scores.script_based.n ?? 0) + (scores.script_agnostic.n ?? 0)).toBeGreaterThanOrEqual(239);
      expect(Object.keys(roles)).toHaveLength(5);
    },
  );
});
