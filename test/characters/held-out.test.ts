import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { importCoser } from '../../characters/importers/coser.ts';
import type { ImportReport } from '../../characters/importers/draft.ts';
import { importRoleBench } from '../../characters/importers/rolebench.ts';

/** Writes the files into a folder and imports it. */
async function read(
  importer: (place: string) => Promise<ImportReport>,
  files: Readonly<Record<string, unknown>>,
): Promise<ImportReport> {
  const place = await mkdtemp(path.join(tmpdir(), 'dramatis-held-out-'));
  try {
    for (const [name, body] of Object.entries(files)) {
      await mkdir(path.dirname(path.join(place, name)), { recursive: true });
      await writeFile(path.join(place, name), typeof body === 'string' ? body : JSON.stringify(body));
    }
    return await importer(place);
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

it('CoSER import leaves out the held-out plots, which the benchmark acts with the character', async () => {
  const plotAt = (number: number): object => ({
    summary: `Plot ${number}.`,
    key_characters: [{ name: 'Mara' }],
    conversation: [
      {
        dialogues: Array.from({ length: 6 }, (_, index) => [
          { character: 'Tom', message: `Question ${number}-${index}?` },
          { character: 'Mara', message: `Answer ${number}-${index}.` },
        ]).flat(),
      },
    ],
  });
  const report = await read(importCoser, {
    'Skerry.json': {
      plots: [0, 1, 2].map(plotAt),
      character_datasets: { Mara: { profile: 'Keeps the lighthouse.' } },
      split_plot_index: 2,
    },
  });
  const [mara] = report.packs;
  expect(mara?.card.experiences).toEqual(['Plot 0.', 'Plot 1.']);
  expect(mara?.lines).toHaveLength(12);
  expect(JSON.stringify(mara)).not.toContain('2-');
});

it('RoleBench import takes only the split by question: the one by role trains with held-out questions', async () => {
  const row = (question: string): string => JSON.stringify({ role: 'Mara', question, generated: ['My own answer.'] });
  const [kept, held] = [row('Who built it?'), row('Are you lonely?')];
  const report = await read(importRoleBench, {
    'rolebench-eng/instruction-generalization/role_specific/train.jsonl': kept,
    'rolebench-eng/instruction-generalization/role_specific/test.jsonl': held,
    'rolebench-eng/role-generalization/role_specific/train.jsonl': `${kept}\n${held}`,
  });
  expect(report.packs[0]?.lines.map(({ asks }) => asks)).toEqual([['Who built it?']]);
});
