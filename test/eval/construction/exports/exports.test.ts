import { spawnSync } from 'node:child_process';
import { mkdir, readFile, realpath, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { conversationsOf, openingMark } from '../../../../eval/construction/exports/conversation.ts';
import { formats, messagesOf, rocitRow, type FormatName } from '../../../../eval/construction/exports/formats.ts';
import { trainScript } from '../../../../eval/construction/exports/hand-off.ts';
import { writeExport } from '../../../../eval/construction/exports/write-export.ts';
import type { Dialogue } from '../../../../eval/construction/records/dialogue.ts';
import { readTestData } from '../../../../eval/speechrole/data/test-data.ts';
import { openScratch } from '../../scratch.ts';
import { jsonLines } from '../rig/build-rig.ts';

const plain: Dialogue = {
  id: 'a',
  language: 'en',
  source: 'a book',
  rights: 'public domain',
  system: 'You are Irene.',
  turns: [
    { speaker: 'User', kind: 'user', text: 'Good night?', audio: '/a/0.wav' },
    { speaker: 'Irene', kind: 'character', text: 'Good night.', action: 'bows', target: true },
    { speaker: 'User', kind: 'user', text: 'So late?', audio: '/a/1.wav' },
    { speaker: 'Irene', kind: 'character', text: 'Never too late.', target: true },
  ],
};
const options = { tags: ['human', 'gpt'], turns: 'all' } as const;

it('the text of RoCIT with system S, input U and answer A has 61 characters, and its loss begins at 56', () => {
  const { text, loss_from } = rocitRow('S', 'U', 'A');
  expect([text.length, loss_from]).toEqual([61, 56]);
});

it('a role hears no thoughts, of several speakers their names, and a mark where it speaks first', () => {
  const [holmes] = conversationsOf(
    {
      ...plain,
      turns: [
        { speaker: 'Holmes', kind: 'character', text: 'Well?', thought: 'Odd.' },
        { speaker: 'Watson', kind: 'character', text: 'Yes.', thought: 'He knows.' },
        { speaker: 'Environment', kind: 'environment', text: 'It rains.' },
        { speaker: 'Holmes', kind: 'character', text: 'Come.' },
      ],
    },
    'Holmes',
  );
  expect(holmes?.exchanges).toEqual([
    { user: openingMark, reply: '[Odd.] Well?' },
    { user: 'Watson: Yes.\nEnvironment: It rains.', reply: 'Come.' },
  ]);
});

it('each form of a trainer gives back what was asked and answered', () => {
  const [conversation] = conversationsOf(plain);
  if (conversation === undefined) throw new Error('There is no conversation.');
  const rows = (format: FormatName): readonly unknown[] =>
    formats[format](conversation, options).map(({ value }) => value);
  const asked = conversation.exchanges.map(({ user, reply }) => [user, reply]);
  const pairs = <Item>(items: readonly Item[], text: (item: Item) => string): string[][] =>
    Array.from({ length: items.length / 2 }, (_, at) => items.slice(at * 2, at * 2 + 2).map(text));

  const [chat] = rows('chatml') as { messages: ReturnType<typeof messagesOf> }[];
  expect(pairs((chat?.messages ?? []).slice(1), ({ content }) => content)).toEqual(asked);
  const [shared] = rows('sharegpt') as { conversations: { from: string; value: string }[] }[];
  expect(shared?.conversations.map(({ from }) => from)).toEqual(['system', 'human', 'gpt', 'human', 'gpt']);
  expect(pairs((shared?.conversations ?? []).slice(1), ({ value }) => value)).toEqual(asked);
  const last = (rows('alpaca') as { instruction: string; output: string; history: string[][] }[]).at(-1);
  expect([...(last?.history ?? []), [last?.instruction, last?.output]]).toEqual(asked);
  const texts = (rows('rocit') as { text: string; loss_from: number }[]).map(({ text, loss_from }) => [
    text.split('### Input:\n')[1]?.split('</s>')[0],
    text.slice(loss_from).replace('</s>', ''),
  ]);
  expect(texts).toEqual(asked);
  const [swift] = rows('ms-swift') as { messages: ReturnType<typeof messagesOf>; audios: string[] }[];
  const tags = swift?.messages.filter(({ content }) => content === '<audio>') ?? [];
  expect([tags.length, swift?.audios]).toEqual([2, ['/a/0.wav', '/a/1.wav']]);
});

it('what is exported for SpeechRole is read by its own benchmark', async () => {
  await using scratch = await openScratch();
  const file = path.join(scratch.path, 'dialogues.jsonl');
  const held = { ...plain, labels: { split: 'test', category: 'emotion' } };
  const single = { ...held, id: 'b', turns: plain.turns.slice(0, 2) };
  await writeFile(file, [held, single].map((row) => JSON.stringify(row)).join('\n'));
  const out = path.join(scratch.path, 'out');
  const written = await writeExport(scratch.path, out, { ...options, paths: 'relative', format: 'speechrole' });
  expect([...written.keys()].sort()).toEqual(['test_data/multi_turn/Irene.json', 'test_data/single_turn/Irene.json']);
  const { samples, dropped } = await readTestData(out);
  expect([samples.map(({ id }) => id).sort(), dropped]).toEqual([['multi/Irene/0', 'single/Irene/0'], 0]);
});

it('the hand-off to ms-swift has its data, its script and the settings of the paper', async () => {
  await using scratch = await openScratch();
  const dev = { ...plain, id: 'b', labels: { split: 'dev' } };
  await writeFile(
    path.join(scratch.path, 'dialogues.jsonl'),
    [plain, dev].map((row) => JSON.stringify(row)).join('\n'),
  );
  await writeExport(scratch.path, scratch.path, { ...options, paths: 'relative', format: 'ms-swift' });
  const script = await readFile(path.join(scratch.path, 'train.sh'), 'utf8');
  expect(script).toBe(trainScript({ hasDev: true }));
  for (const setting of ['--lora_rank 8', '--lora_alpha 32', '--learning_rate 1e-4', '--val_dataset val.jsonl'])
    expect(script).toContain(setting);
  expect(jsonLines(await readFile(path.join(scratch.path, 'val.jsonl'), 'utf8'))).toHaveLength(1);
});

/** Options that ms-swift 3.9.3 documents (docs/source_en/Instruction/Command-line-parameters.md), of which the script uses some. */
const documented = new Set(
  `model dataset val_dataset train_type lora_rank lora_alpha target_modules torch_dtype num_train_epochs
  per_device_train_batch_size per_device_eval_batch_size gradient_accumulation_steps learning_rate warmup_ratio
  eval_steps save_steps save_total_limit output_dir split_dataset_ratio freeze_vit logging_steps max_length`.split(
    /\s+/,
  ),
);

it('train.sh passes documented options and files that exist to swift, and says what is missing', async () => {
  await using scratch = await openScratch();
  const [folder, tools] = [path.join(scratch.path, 'training'), path.join(scratch.path, 'tools')];
  await mkdir(tools);
  const dialogues = path.join(scratch.path, 'dialogues.jsonl');
  await writeFile(dialogues, `${JSON.stringify(plain)}\n${JSON.stringify({ ...plain, labels: { split: 'dev' } })}\n`);
  await writeExport(scratch.path, folder, { ...options, paths: 'relative', format: 'ms-swift' });
  const script = path.join(folder, 'train.sh');
  const said = path.join(scratch.path, 'said');
  const run = (more: readonly string[] = []) =>
    spawnSync('/bin/sh', [script, ...more], {
      encoding: 'utf8',
      cwd: '/',
      env: { PATH: `${tools}:/usr/bin:/bin`, SAID: said },
    });
  expect(run()).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('pip install "ms-swift==3.9.*"') as string,
  });
  // Stands for swift: writes down its place, its processes and what it was given.
  const stand = '#!/bin/sh\n{ pwd; echo "$NPROC_PER_NODE"; for word in "$@"; do echo "$word"; done; } > "$SAID"\n';
  await writeFile(path.join(tools, 'swift'), stand, { mode: 0o755 });
  expect(run(['my/model'])).toMatchObject({ status: 0, stderr: '' });
  const [place, processes, task, ...words] = (await readFile(said, 'utf8')).trim().split('\n');
  expect([place, processes, task]).toEqual([await realpath(folder), '8', 'sft']);
  const given = new Map(
    words.flatMap((word, at) => (word.startsWith('--') ? [[word.slice(2), words[at + 1] ?? '']] : [])),
  );
  expect([...given.keys()].filter((name) => !documented.has(name))).toEqual([]);
  expect(words).toHaveLength(given.size * 2);
  expect(given.get('model')).toBe('my/model');
  for (const name of ['dataset', 'val_dataset'])
    expect((await stat(path.join(folder, given.get(name) ?? ''))).size).toBeGreaterThan(0);
  await writeFile(path.join(folder, 'train.jsonl'), '');
  expect(run()).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('train.jsonl is missing or empty') as string,
  });
});
