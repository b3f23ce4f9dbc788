import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { readers } from '../../../../eval/construction/exports/readers.ts';
import { dialogueSchema, type Dialogue, type Turn } from '../../../../eval/construction/records/dialogue.ts';
import { dramatis } from '../../../rigs/command-rig.ts';
import { loadCircumstances } from '../../../../eval/coser/circumstances.ts';
import { openScratch } from '../../scratch.ts';
import { jsonLines } from '../rig/build-rig.ts';

const [first, second]: readonly [Turn, Turn][] = [
  [
    { speaker: 'User', kind: 'user', text: 'Good night, Miss Adler?' },
    { speaker: 'Irene', kind: 'character', text: 'Good night.', thought: 'It is he.', action: 'bows', target: true },
  ],
  [
    { speaker: 'User', kind: 'user', text: 'So late?' },
    { speaker: 'Irene', kind: 'character', text: 'Never too late.', target: true },
  ],
];
const both = [...(first ?? []), ...(second ?? [])];
const whole: Dialogue = {
  id: 'a',
  language: 'en',
  source: 'a book',
  rights: 'public domain',
  system: 'You are Irene.',
  turns: both,
  labels: { split: 'train', key: 'Irene', category: 'Advice and Life Experience' },
};
const single: Dialogue = { ...whole, id: 'b', turns: [...(first ?? [])] };

/** Exports dialogues and reads the export back. */
async function roundTrip(
  format: string,
  dialogues: readonly Dialogue[],
  more: readonly string[] = [],
): Promise<Dialogue[]> {
  await using scratch = await openScratch();
  const [made, exported, read] = ['made', 'exported', 'read'].map((name) => path.join(scratch.path, name)) as [
    string,
    string,
    string,
  ];
  await mkdir(made);
  await writeFile(path.join(made, 'dialogues.jsonl'), dialogues.map((each) => `${JSON.stringify(each)}\n`).join(''));
  const out = await dramatis('data', 'export', made, '--format', format, '--out', exported, ...more);
  expect(out).toMatchObject({ status: 0 });
  const data = { 'ms-swift': 'train.jsonl', sharegpt: 'train.jsonl', alpaca: 'train.jsonl' }[format] ?? '';
  const args = [path.join(exported, data), '--from', format, '--rights', 'public domain', '--role', 'Irene'];
  const back = await dramatis('data', 'import', ...args, '--out', read);
  expect(back).toMatchObject({ status: 0 });
  const rows = jsonLines<object>(await readFile(path.join(read, 'dialogues.jsonl'), 'utf8'));
  return rows.map((row) => dialogueSchema.parse(row));
}

const form = ({ system, turns, labels }: Dialogue): object => ({ system, turns, split: labels?.['split'] });

it.each([
  ['ms-swift', []],
  ['sharegpt', []],
  ['sharegpt', ['--tags', 'human,assistant']],
  ['alpaca', ['--turns', 'last']],
  ['chatml', []],
  ['speechrole', []],
] as const)(
  'a dialogue that is exported as %s %j is read back unchanged, thoughts and actions included',
  async (format, more) => {
    expect((await roundTrip(format, [whole, single], more)).map(form).toSorted(byLength)).toEqual(
      [whole, single].map(form).toSorted(byLength),
    );
  },
);

function byLength(one: object, other: object): number {
  return JSON.stringify(one).length - JSON.stringify(other).length;
}

it('recordings go out and come back with ms-swift, without the text they say, and with SpeechRole, with it', async () => {
  const spoken = (audio: boolean): Turn[] =>
    both.map((turn, at) => ({ ...turn, ...(audio ? { audio: `/sound/${at}.wav` } : {}) }));
  const heard: Dialogue = { ...whole, turns: spoken(true) };
  const [swift] = await roundTrip('ms-swift', [heard], ['--paths', 'absolute']);
  expect(swift?.turns.map(({ audio, text }) => [audio, text])).toEqual([
    ['/sound/0.wav', ''],
    [undefined, 'Good night.'],
    ['/sound/2.wav', ''],
    [undefined, 'Never too late.'],
  ]);
  const held = { ...heard, labels: { ...whole.labels, split: 'test' } };
  const withMore = held.turns.map((turn, at) => (at % 2 === 1 ? { ...turn, moreAudio: ['/sound/2nd.wav'] } : turn));
  const [released] = await roundTrip('speechrole', [{ ...held, turns: withMore }], ['--paths', 'absolute']);
  expect(released?.turns).toEqual(withMore);
  expect(released?.labels).toMatchObject({ split: 'test', mode: 'multi', category: 'Advice and Life Experience' });
});

it('forms of single answers hold one question and its answer each', async () => {
  const rocit = await roundTrip('rocit', [whole]);
  expect(rocit.map(({ turns }) => turns)).toEqual([first, second]);
  expect(rocit[0]?.system).toBe('You are Irene.');
  const bench = await roundTrip('rolebench', [single]);
  expect(bench.map(({ turns, labels }) => [turns, labels?.['key']])).toEqual([[first, 'Irene']]);
});

it('what is exported for CoSER and Beyond Dialogue is read back, and CoSER’s benchmark acts the scenes that are held out', async () => {
  const rain: Turn = { speaker: 'Environment', kind: 'environment', text: 'It rains.' };
  const scene = 'Baker Street.';
  const acted: Dialogue = { ...whole, scene, turns: [...both.map(asPerson), rain], labels: { split: 'test' } };
  const [read] = await roundTrip('coser', [acted]);
  expect([read?.scene, read?.turns, read?.labels?.['split']]).toEqual([scene, acted.turns, 'test']);
  const talk = (thought: boolean): Turn[] =>
    both.map(({ thought: inner, ...turn }) => ({
      ...turn,
      target: turn.kind === 'character',
      ...(thought && inner !== undefined ? { thought: inner } : {}),
    }));
  const [pair] = await roundTrip('beyond-dialogue', [{ ...whole, scene, turns: talk(true) }]);
  // Its form holds no thoughts.
  expect([pair?.scene, pair?.turns]).toEqual([scene, talk(false)]);
  await using scratch = await openScratch();
  await writeFile(path.join(scratch.path, 'dialogues.jsonl'), JSON.stringify(acted));
  await dramatis('data', 'export', scratch.path, '--format', 'coser', '--out', scratch.path);
  const config = { data: path.join(scratch.path, 'test.jsonl'), select: {}, repeats: 1, agent: 'none', models: {} };
  const { count, problems } = await loadCircumstances(config as unknown as Parameters<typeof loadCircumstances>[0]);
  expect([count, problems]).toEqual([1, []]);
});

/** All who speak in CoSER are characters. */
function asPerson({ target: _target, ...turn }: Turn): Turn {
  return { ...turn, kind: 'character' };
}

it('conversations of CoSER and Beyond Dialogue are read with thoughts, actions and the environment', () => {
  const said = [
    { character: 'Irene', message: '[He knows.] (bows) Good night.' },
    { character: 'Environment', message: 'It rains.' },
  ];
  expect(readers.coser({ scenario: 'Baker Street.', dialogues: said }, '')).toEqual({
    scene: 'Baker Street.',
    turns: [
      { speaker: 'Irene', kind: 'character', text: 'Good night.', thought: 'He knows.', action: 'bows' },
      { speaker: 'Environment', kind: 'environment', text: 'It rains.' },
    ],
  });
  const rows = [
    { role: 'Holmes', dialogue: 'Well?' },
    { role: 'Irene', dialogue: 'Good night.（bows）' },
  ];
  expect(readers['beyond-dialogue']({ dialogues: rows }, 'Irene')?.turns).toEqual([
    { speaker: 'Holmes', kind: 'user', text: 'Well?', target: false },
    { speaker: 'Irene', kind: 'character', text: 'Good night.', action: 'bows', target: true },
  ]);
});

it.each(Object.keys(readers))('a row in another format is not read as %s', (name) => {
  for (const row of [null, 1, 'text', [], {}, { messages: [{ role: 'user', content: 'x' }] }, { dialogue: [] }])
    expect(readers[name as keyof typeof readers](row, 'Irene')).toBeUndefined();
});
