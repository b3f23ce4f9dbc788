import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { evaluate } from '../../rigs/eval-rig.ts';
import { sharedPath } from '../../shared.ts';
import { openScratch } from '../scratch.ts';

interface Scored {
  readonly tokens: string;
  readonly n: number;
  readonly mean: number;
  readonly low: number;
  readonly high: number;
  readonly roles: Readonly<Record<string, { readonly n: number; readonly mean: number }>>;
  readonly rows: Readonly<Record<string, unknown>>;
}

async function rouge(
  rows: { readonly references: readonly unknown[]; readonly outputs: readonly unknown[] },
  more: readonly string[] = [],
): Promise<Scored & { status: number }> {
  await using scratch = await openScratch();
  const files = Object.entries(rows).map(([name, list]) => [path.join(scratch.path, `${name}.jsonl`), list] as const);
  for (const [file, list] of files)
    await writeFile(file, list.map((row) => (typeof row === 'string' ? row : JSON.stringify(row))).join('\n'));
  const [references = '', outputs = ''] = files.map(([file]) => file);
  const { status, printed } = await evaluate([
    'rouge',
    '--references',
    references,
    '--outputs',
    outputs,
    '--json',
    ...more,
  ]);
  return { status, ...(JSON.parse(printed) as Scored) };
}

const cat = { role: 'Cat', question: 'Where?', generated: ['the cat lay on a mat', 'elsewhere'] };

describe('dramatis eval rouge', () => {
  it('`eval rouge` joins rows by role and trimmed question, in any order', async () => {
    const scored = await rouge({
      references: [cat, { role: 'Monkey', question: ' Who? ', generated: ['老孙去也'] }],
      outputs: [
        { role: 'Monkey', question: 'Who?', generated: ['nobody'] },
        { role: 'Cat', question: ' Where? ', answer: 'the cat sat on the mat' },
      ],
    });
    expect(scored).toMatchObject({ status: 0, metric: 'rouge-l', tokens: 'words', referencesBy: 'max', n: 2 });
    expect(scored.roles).toEqual({ Cat: { n: 1, mean: expect.closeTo(0.6667, 4) }, Monkey: { n: 1, mean: 0 } });
    expect(scored.mean).toBeCloseTo(0.3333, 4);
    expect(scored).toMatchObject({ low: null, high: null });
  });

  it('`eval rouge` takes Han characters as tokens if the references are Chinese, and other tokens on request', async () => {
    const rows = {
      references: [{ role: '孙悟空', question: '谁？', generated: ['老孙去也'] }],
      outputs: [{ role: '孙悟空', question: '谁？', output: '俺老孙来也' }],
    };
    expect(await rouge(rows)).toMatchObject({ tokens: 'han', mean: expect.closeTo(0.6667, 4) });
    expect(await rouge(rows, ['--tokens', 'alnum'])).toMatchObject({ tokens: 'alnum', mean: 0 });
    const set = await rouge({ references: [cat], outputs: [{ ...cat, generated: 'the cat sat on the mat' }] }, [
      '--tokens',
      'set',
      '--references-by',
      'first',
    ]);
    expect(set.mean).toBeCloseTo(0.7273, 4);
  });

  it('`eval rouge` counts and names rows without a partner, and rows that it cannot read', async () => {
    const scored = await rouge({
      references: [cat, { ...cat, question: 'When?' }, '{"role": "Cat", "question"', { role: 'Cat', question: 'Why?' }],
      outputs: [{ ...cat, question: 'Never asked' }, { ...cat, generated: 'elsewhere' }, ''],
    });
    expect(scored).toMatchObject({ n: 1, mean: 1 });
    expect(scored.rows).toEqual({
      references: 2,
      outputs: 2,
      referencesWithoutOutput: 1,
      outputsWithoutReference: 1,
      unreadable: 2,
      unpaired: [
        { file: 'references', line: 2, role: 'Cat', question: 'When?' },
        { file: 'outputs', line: 1, role: 'Cat', question: 'Never asked' },
      ],
    });
  });

  it('`eval rouge` pairs rows of equal role and question in their order, and takes the last output again', async () => {
    const rows = {
      references: ['one', 'two', 'two'].map((text) => ({ ...cat, generated: text })),
      outputs: ['one', 'two'].map((text) => ({ ...cat, generated: text })),
    };
    expect(await rouge(rows)).toMatchObject({ n: 3, mean: 1, rows: { outputsWithoutReference: 0 } });
    expect(await rouge({ references: rows.outputs, outputs: [...rows.references, cat] })).toMatchObject({
      n: 2,
      mean: 1,
      rows: { outputsWithoutReference: 2 },
    });
  });

  it('`eval rouge` ends with status 1 if no row has a partner, and 2 or 1 for wrong flags and files', async () => {
    expect(await rouge({ references: [cat], outputs: [] })).toMatchObject({
      status: 1,
      n: 0,
      mean: null,
      tokens: null,
    });
    const wrong = ['rouge', '--references', '/nowhere', '--outputs', '/nowhere'];
    expect(await evaluate(wrong)).toMatchObject({
      status: 1,
      printed: expect.stringContaining('/nowhere cannot be read'),
    });
    expect(await evaluate([...wrong, '--tokens', 'letters'])).toMatchObject({
      status: 2,
      printed: expect.stringContaining('words, marks, alnum, han, set'),
    });
    expect(await evaluate(['rouge'])).toMatchObject({ status: 2, printed: expect.stringContaining('--references') });
  });

  it('`eval rouge` reads rows that begin with a byte order mark, end with CR LF or span several chunks of the file', async () => {
    const long = { ...cat, role: 'Long', padding: 'x'.repeat(200_000) };
    const rows = [cat, long, { ...cat, role: 'Last' }].map((row) => JSON.stringify(row));
    const scored = await rouge({ references: [`\u{FEFF}${rows.join('\r\n')}\r\n`], outputs: rows }, [
      '--tokens',
      'alnum',
      '--references-by',
      'first',
    ]);
    expect(scored).toMatchObject({ n: 3, mean: 1 });
  });
});

const place = (name: string): string => sharedPath(`data/rolebench-zh-role_specific-${name}.jsonl`);

describe('dramatis eval rouge on RoleBench', () => {
  it.skipIf(!existsSync(place('test')))('`eval rouge` scores the Chinese RoleGPT baseline of RoleBench', async () => {
    const files = ['--references', place('test'), '--outputs', place('rolegpt_baseline')];
    const { status, printed } = await evaluate(['rouge', ...files, '--tokens', 'han', '--json']);
    expect(status).toBe(0);
    const scored = JSON.parse(printed) as Scored;
    // Recomputed with another program.
    expect(scored).toMatchObject({ n: 239, mean: expect.closeTo(0.20238753133585216, 14) });
    expect(Object.keys(scored.roles)).toHaveLength(5);
    expect(scored.rows).toMatchObject({ references: 239, outputs: 239, unpaired: [] });
  });
});
