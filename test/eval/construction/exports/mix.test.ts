import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { dramatis } from '../../../rigs/command-rig.ts';
import { openScratch } from '../../scratch.ts';
import { jsonLines } from '../rig/build-rig.ts';

interface Row {
  readonly instruction: string;
  readonly system?: string;
}

/** Writes rows of a part: so many in English, so many in Chinese. */
async function writeRows(folder: string, part: string, english: number, chinese: number): Promise<string> {
  const rows = [
    ...Array.from({ length: english }, (_, at) => ({ instruction: `${part} question ${at}`, output: 'An answer.' })),
    ...Array.from({ length: chinese }, (_, at) => ({ instruction: `${part} 问题${at}号是什么`, output: '一个回答。' })),
  ].map((row) => (part === 'chat' ? row : { ...row, system: `You play ${part}.` }));
  const file = path.join(folder, `${part}.jsonl`);
  await writeFile(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  return file;
}

async function mix(scratch: string, flags: readonly string[]): Promise<{ rows: Row[]; stdout: string; text: string }> {
  const out = path.join(scratch, 'mixed.jsonl');
  const { status, stdout } = await dramatis('data', 'mix', ...flags, '--out', out);
  expect([status, stdout]).toEqual([0, expect.stringContaining('rows')]);
  const text = await readFile(out, 'utf8');
  return { rows: jsonLines<Row>(text), stdout, text };
}

function count(rows: readonly Row[], part: string, isChinese: boolean): number {
  return rows.filter(({ instruction }) => instruction.startsWith(part) && /问题/.test(instruction) === isChinese)
    .length;
}

it('role playing, alignment tasks and chit-chat are mixed 1 : 5 : 4, in each language, and equally for the same seed', async () => {
  await using scratch = await openScratch();
  const files = await Promise.all([
    writeRows(scratch.path, 'rp', 6, 4),
    writeRows(scratch.path, 'cserp', 40, 25),
    writeRows(scratch.path, 'chat', 100, 100),
  ]);
  const flags = ['rp', 'cserp', 'chat'].flatMap((part, at) => [`--${part}`, files[at] ?? '']);
  const { rows, text } = await mix(scratch.path, flags);
  const counts = ['rp', 'cserp', 'chat'].map((part) => [count(rows, part, false), count(rows, part, true)]);
  expect(counts).toEqual([
    [6, 4],
    [30, 20],
    [24, 16],
  ]);
  expect(rows.every(({ system }) => system !== undefined)).toBe(true);
  // Not in the order of the parts.
  expect(rows.slice(0, 10).every(({ instruction }) => instruction.startsWith('rp'))).toBe(false);
  expect((await mix(scratch.path, flags)).text).toBe(text);
  expect((await mix(scratch.path, [...flags, '--seed', '1'])).text).not.toBe(text);
});

it('without alignment tasks the shares are 1 : 9, and what is too little is said', async () => {
  await using scratch = await openScratch();
  const files = [await writeRows(scratch.path, 'rp', 3, 0), await writeRows(scratch.path, 'chat', 20, 5)];
  const { rows, stdout } = await mix(scratch.path, ['--rp', files[0] ?? '', '--chat', files[1] ?? '']);
  expect([count(rows, 'chat', false), count(rows, 'chat', true)]).toEqual([20, 0]);
  expect(stdout).toContain('20 of 20 rows; 7 too few for its share');
});
