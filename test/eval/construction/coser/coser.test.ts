import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { importCoser } from '../../../../characters/importers/coser.ts';
import { carryFrom, continuationOf, trigramJaccard } from '../../../../eval/construction/coser/carry-over.ts';
import { officialName } from '../../../../eval/construction/coser/names.ts';
import { coserPipeline } from '../../../../eval/construction/coser/pipeline.ts';
import { splitIndex } from '../../../../eval/construction/coser/profiles.ts';
import { bookHash, conversationWeight, domainsOf, weightedDraw } from '../../../../eval/construction/coser/test-set.ts';
import { dialogueSchema, partsOf } from '../../../../eval/construction/records/dialogue.ts';
import { openPrompts } from '../../../../eval/construction/runner/prompts.ts';
import { loadCircumstances } from '../../../../eval/coser/circumstances.ts';
import { openScratch } from '../../scratch.ts';
import { build, filesOf, jsonLines } from '../rig/build-rig.ts';
import { scriptedModel } from '../rig/scripted-model.ts';
import { coserScript } from './coser-script.ts';

const books = path.resolve(import.meta.dirname, '../books-in-public-domain');

describe('the golden values of CoSER', () => {
  it('a storyline from 700 of 1,000 characters is given again from 760 to the next line on', () => {
    const text = `${'x'.repeat(780)}\n${'y'.repeat(219)}`;
    expect(carryFrom(text, 700)).toBe(781);
    expect(carryFrom('x'.repeat(1_000), 700)).toBe(760);
  });

  it('two summaries with 3 of 9 trigrams in common have a Jaccard of one third', () => {
    const [left, right] = [
      'the king divides his kingdom among his daughters',
      'the king divides his kingdom between two daughters',
    ];
    expect(trigramJaccard(left, right)).toBeCloseTo(1 / 3, 10);
    expect(
      continuationOf({ summary: left }, [
        { summary: right, n: 1 },
        { summary: right, n: 2 },
      ]),
    ).toMatchObject({ n: 2 });
    expect(continuationOf({ summary: left }, [{ summary: 'something else entirely happens here' }])).toBeUndefined();
  });

  it.each([
    ['Emma.json', 1_603_894_074],
    ['Othello.json', 2_022_492_233],
    ['King Lear.json', 2_414_187_427],
    ['Dracula.json', 2_996_636_924],
  ])('%s has the hash %d', (name, value) => expect(bookHash(name)).toBe(value));

  it('a conversation of characters with 9, 4 and 0 plots weighs 2', () => {
    const plots = new Map([
      ['a', 9],
      ['b', 4],
      ['c', 0],
    ]);
    expect(conversationWeight(['a', 'b', 'c', 'Environment'], (name) => plots.get(name))).toBe(2);
    expect(conversationWeight(['Environment', 'unknown'], () => undefined)).toBe(1);
  });

  it('nine of ten books are in domain, and the first nine tenths of the plots are for training', () => {
    const names = Array.from({ length: 10 }, (_, index) => `Book ${index}`);
    expect([...domainsOf(names).values()].filter((tag) => tag === 'id')).toHaveLength(9);
    expect(splitIndex(20)).toBe(18);
  });

  it('a draw repeats nothing, is seeded, and leaves out the lighter half', () => {
    const items = Array.from({ length: 400 }, (_, index) => ({ weight: index + 1, index }));
    const drawn = weightedDraw(items, 100, 1);
    expect(new Set(drawn).size).toBe(100);
    expect(Math.min(...drawn.map(({ weight }) => weight))).toBeGreaterThan(200);
    expect(weightedDraw(items, 100, 1)).toEqual(drawn);
  });
});

it('a name that the model left out gets that of the most similar one, or none', () => {
  const names = { 'Sherlock Holmes': 'Sherlock Holmes', 'the King': 'King of Bohemia' };
  expect(officialName('Mr. Sherlock Holmes', names)).toBe('Sherlock Holmes');
  expect(officialName('ostler', names)).toBe('impersonal');
});

it('a message holds thoughts in [], actions in () and speech, in Chinese marks too', () => {
  expect(partsOf('[I must go.] (rises) Good night, (bows) sir.')).toEqual({
    thought: 'I must go.',
    action: 'rises bows',
    text: 'Good night, sir.',
  });
  expect(partsOf('【要小心】（起身）告辞。')).toEqual({ thought: '要小心', action: '起身', text: '告辞。' });
});

const options = { rights: 'public domain', promptOf: openPrompts(), chunkTokens: 2_000 };

it('a story becomes a book, dialogues, samples and circumstances, though one call in ten goes wrong', async () => {
  await using scratch = await openScratch();
  const input = path.join(books, 'a-scandal-in-bohemia.txt');
  const model = scriptedModel(coserScript(['Sherlock Holmes', 'Doctor Watson', 'King of Bohemia']), { faults: 0.1 });
  const report = await build(coserPipeline({ ...options, input }), scratch.path, model);

  expect(report.stages.map(({ stage, failed }) => [stage, failed])).toEqual(
    ['extract', 'refine', 'names', 'profiles'].map((stage) => [stage, 0]),
  );
  expect(report.stages.reduce((sum, { calls }) => sum + calls, 0)).toBe(model.calls.length);
  expect(report.stages[0]?.counted['plot found in the text']).toBeGreaterThan(10);
  const done = (mishap: string): number =>
    Object.entries(model.did)
      .filter(([key]) => key.endsWith(`: ${mishap}`))
      .reduce((sum, [, count]) => sum + count, 0);
  const replies = (reason: string): number =>
    report.stages.reduce((sum, stage) => sum + (stage.replies[reason] ?? 0), 0);
  expect(replies('refusal')).toBe(done('refusal'));
  expect(replies('copyright apology')).toBe(done('apology'));

  const files = await filesOf(scratch.path);
  const dialogues = jsonLines<object>(files.get('dialogues.jsonl')).map((row) => dialogueSchema.parse(row));
  expect(dialogues.length).toBeGreaterThan(10);
  expect(
    dialogues.every(({ provenance }) => provenance?.models.includes('scripted-1') && provenance.sources.length > 0),
  ).toBe(true);
  expect(files.get('README.md')).toContain('Rights to the input, as declared: public domain');

  const samples = jsonLines<{ conversations: { from: string; value: string }[] }>(files.get('training-sharegpt.jsonl'));
  const [system, start] = samples[0]?.conversations ?? [];
  expect([system?.from, start?.value]).toEqual([
    'system',
    expect.stringContaining('===Conversation Start===') as string,
  ]);
  const thoughtsOfOthers = samples.flatMap(({ conversations }) =>
    conversations.filter(({ from, value }) => from === 'human' && value.includes('[I must be careful.]')),
  );
  expect(
    thoughtsOfOthers.every(({ value }) =>
      value
        .split('\n\n')
        .filter((line) => line.includes('[I must'))
        .every((line) => line.startsWith('Environment')),
    ),
  ).toBe(true);

  // The benchmark of the paper reads the scenes that were held out.
  const data = path.join(scratch.path, 'circumstances.jsonl');
  const config = { data, select: {}, repeats: 1, agent: 'none', models: {} } as unknown;
  const { count, problems } = await loadCircumstances(config as Parameters<typeof loadCircumstances>[0]);
  expect([count, problems]).toEqual([jsonLines(files.get('circumstances.jsonl')).length, []]);
  const { packs } = await importCoser(path.join(scratch.path, 'books'));
  expect(packs.map(({ card }) => card.name)).toEqual(['Doctor Watson', 'King of Bohemia', 'Sherlock Holmes']);
});

it('a build that is repeated asks nothing, and writes the same files', async () => {
  await using scratch = await openScratch();
  const input = path.join(books, 'a-scandal-in-bohemia.txt');
  const script = coserScript(['Sherlock Holmes', 'Doctor Watson', 'King of Bohemia']);
  const pipeline = coserPipeline({ ...options, input });
  await build(pipeline, scratch.path, scriptedModel(script, { faults: 0.1 }));
  const files = await filesOf(scratch.path);
  const second = scriptedModel(script, { faults: 0.1 });
  await build(pipeline, scratch.path, second);
  expect(second.calls).toEqual([]);
  expect(await filesOf(scratch.path)).toEqual(files);
});
