import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Dialogue } from '../../../../eval/construction/records/dialogue.ts';

/** Questions to a role and its answers, one of them held out. */
export const spokenDialogues: readonly Dialogue[] = [
  ['Why did you come back to London?', '(smiling) The train was late, so I took a cab.'],
  ['Do you trust the king of Bohemia?', 'I trust nobody who wears a mask.'],
].map(([user = '', role = ''], at) => ({
  id: `holmes/single/${at}`,
  language: 'en',
  source: 'A Scandal in Bohemia',
  rights: 'public domain',
  system: 'I want you to act like Sherlock Holmes from A Scandal in Bohemia.',
  turns: [
    { speaker: 'User', kind: 'user', text: user },
    { speaker: 'Sherlock Holmes', kind: 'character', text: role, target: true },
  ],
  labels: { split: at === 1 ? 'test' : 'train', mode: 'single', key: 'holmes' },
}));

/** Writes dialogues as a build leaves them. Resolves to the folder. */
export async function writeDialogues(
  scratch: string,
  dialogues: readonly Dialogue[] = spokenDialogues,
): Promise<string> {
  const folder = path.join(scratch, 'dialogues');
  await mkdir(folder, { recursive: true });
  await writeFile(
    path.join(folder, 'dialogues.jsonl'),
    dialogues.map((dialogue) => `${JSON.stringify(dialogue)}\n`).join(''),
  );
  return folder;
}
