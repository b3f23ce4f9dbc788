import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { CrossCell, CrossDifference } from '../../../eval/wikirole/cross/cross.ts';
import { openTextModelServer, type ChatRequest } from '../../fakes/servers/text-model-server.ts';
import { evaluate } from '../../rigs/eval-rig.ts';
import { openScratch } from '../scratch.ts';

const roles = ['Ada', 'Ben', 'Cyd', 'Dov', 'Eve', 'Flo'];

function rowOf(label: string): object {
  const lists = { role_consist_cands: [label, 'X', 'Y', 'Z'], rejection_labels: [0, 1], evidence: ['- a', '- b'] };
  const meta = { label, lang: 'en', summary: 'short', description: 'somebody', ...lists };
  return { system: `You are ${label}.`, prompts: ['Who are you?', 'What is a phone?'], meta };
}

/** A judge that reads the figures out of the answer: `Ada 7` is taken for Ada, and its knowledge is a 7. */
const judge = (request: ChatRequest): string => {
  const prompt = request.messages.at(-1)?.content ?? '';
  const [, name = '', grade = ''] = /answer: (\w+) (\d)/.exec(prompt) ?? [];
  if (/^Write 1 if/m.test(prompt)) return '0';
  if (/most suitable role/.test(prompt)) return `So.\nThe most suitable role is [${name}].`;
  return `So.\n${grade}`;
};

interface Wanted {
  /** For each role, whether it is recognized, and its knowledge. */
  readonly answers: readonly (readonly [isRecognized: boolean, grade: number])[];
  readonly tags: readonly string[];
  readonly more?: readonly string[];
}

/** Makes runs of stored answers, and returns their folders. */
async function runsOf(wanted: Readonly<Record<string, Wanted>>): Promise<Readonly<Record<string, string>>> {
  const scratch = await openScratch();
  onTestFinished(() => scratch[Symbol.asyncDispose]());
  await using server = await openTextModelServer({ judge });
  const data = path.join(scratch.path, 'test.jsonl');
  await writeFile(data, roles.map((label) => `${JSON.stringify(rowOf(label))}\n`).join(''));
  const folders: Record<string, string> = {};
  for (const [name, { answers, tags, more = [] }] of Object.entries(wanted)) {
    const rows = roles.map((label, at) => {
      const [isRecognized, grade] = answers[at] ?? [true, 5];
      const said = `answer: ${isRecognized ? label : 'X'} ${grade}`;
      const messages = [1, 2].flatMap(() => [
        { role: 'user', content: '?' },
        { role: 'assistant', content: said },
      ]);
      return { ...rowOf(label), messages };
    });
    const outputs = path.join(scratch.path, `${name}.jsonl`);
    await writeFile(outputs, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    const out = path.join(scratch.path, name);
    const judging = ['--judge', `${server.url}/v1`, '--judge-model', 'judge', '--votes', '1', '--retries', '0'];
    const run = await evaluate([
      'run',
      '--task',
      'wikirole',
      '--data',
      data,
      '--outputs',
      outputs,
      '--out',
      out,
      ...judging,
      ...tags,
      ...more,
    ]);
    expect(run.printed).toContain('6 of 6 items answered');
    folders[name] = out;
  }
  return folders;
}

const same = (isRecognized: boolean, grade: number): Wanted['answers'] => roles.map(() => [isRecognized, grade]);
const taught = {
  // Half of the roles recognized, knowledge 8.
  big: { answers: roles.map((_, at) => [at < 3, 8] as const), tags: ['--supervisor', 'big', '--with-profile'] },
  small: { answers: same(false, 4), tags: ['--supervisor', 'small', '--with-profile'] },
  'small-big': { answers: same(true, 5), tags: ['--seed-model', 'small', '--supervisor', 'big'] },
  'big-small': { answers: same(true, 6), tags: ['--seed-model', 'big', '--supervisor', 'small'] },
  untrained: { answers: same(false, 3), tags: ['--seed-model', 'small'] },
} as const satisfies Record<string, Wanted>;

interface Printed {
  readonly metrics: readonly {
    readonly metric: { readonly key: string };
    readonly cells: readonly CrossCell[];
    readonly differences: readonly CrossDifference[];
    readonly above: object;
  }[];
}

describe('cross-supervision', () => {
  it('puts each run at its place, and prints matrices with intervals, coverage, differences and the diagonal', async () => {
    const runs = await runsOf(taught);
    const order = ['small', 'big', 'big-small', 'small-big', 'untrained'].map((name) => runs[name] ?? '');
    const { status, printed } = await evaluate(['cross', ...order]);
    expect(status).toBe(0);
    expect(printed).toContain('JUDGE NOT CHECKED');
    const lines = printed.split('\n').map((line) => line.replaceAll(/ {2,}/g, ' | ').trim());
    const [head] = lines.filter((line) => line.startsWith('data of'));
    expect(head).toBe('data of | with profiles | big | small');
    const know = lines.slice(lines.findIndex((line) => line.startsWith('Know.')));
    expect(know.slice(4, 7)).toEqual(['small | 4.00 | 6.00 | –', 'big | 8.00 | – | 5.00', '(untrained) | – | 3.00']);
    expect(know).toContain('small on data of big | 5.00 | 5.00–5.00 | 0.00 | 12/12');
    expect(know).toContain('small on data of big | supervisor | -3.00 | -3.00–-3.00 | 0.003 | 12');
    expect(know).toContain('better than the supervisor with profiles (above the diagonal): 1 of 2');
    for (const line of printed.split('\n')) expect(line.length).toBeLessThanOrEqual(80);

    const json = JSON.parse((await evaluate(['cross', ...order, '--json'])).printed) as Printed;
    const [consistency, knowledge] = json.metrics;
    const trained = consistency?.differences.find(({ seed, minus }) => seed === 'small' && minus === 'supervision');
    // Three of six roles more, so the draws of six roles vary about one half.
    expect(trained).toMatchObject({ a: 0.5, b: 1, difference: 0.5, n: 12 });
    expect(trained?.low).toBeGreaterThan(0);
    expect(trained?.high).toBeLessThan(1);
    const gain = knowledge?.differences.find(({ minus }) => minus === 'untrained');
    expect(gain).toMatchObject({ seed: 'small', supervisor: 'big', difference: 2 });
    expect(knowledge?.cells.map(({ value, n, of }) => [value, n, of])).toEqual(
      [4, 8, 6, 5, 3].map((value) => [value, 12, 12]),
    );

    const page = path.join(path.dirname(order[0] ?? ''), 'cross.html');
    expect((await evaluate(['cross', ...order, '--out', page])).status).toBe(0);
    const text = await readFile(page, 'utf8');
    expect(text.match(/<svg/g)).toHaveLength(3);
    expect(text).toContain('small on big: 8.00, 5.00');
  });

  it('counts failures of a run and marks what is not scored, and never takes it for 0', async () => {
    const runs = await runsOf({
      big: taught.big,
      'small-big': {
        // The judge cannot read a grade of two roles, since there is none.
        answers: roles.map((_, at) => [true, at < 2 ? Number.NaN : 6] as const),
        tags: ['--seed-model', 'small', '--supervisor', 'big', '--parse-retries', '0'],
      },
    });
    const { printed } = await evaluate(['cross', runs['big'] ?? '', runs['small-big'] ?? '']);
    expect(printed).toMatch(/big +8\.00 +6\.00 †/);
    expect(printed).toContain('8/12 †');
    expect(printed).toContain('less than 90 %');
  });

  it('refuses runs without tags, two of one place, of other judgments, and of other benchmarks', async () => {
    const runs = await runsOf({
      big: taught.big,
      again: taught.big,
      bare: { answers: same(true, 5), tags: [] },
      odd: { answers: same(true, 5), tags: ['--with-profile', '--supervisor', 'big', '--seed-model', 'small'] },
      strict: { ...taught['small-big'], more: ['--parser', 'strict'] },
    });
    const refusal = async (...names: readonly string[]): Promise<string> => {
      const { status, printed } = await evaluate(['cross', ...names.map((name) => runs[name] ?? name)]);
      expect(status).toBe(2);
      return printed;
    };
    expect(await refusal('big')).toContain('two runs');
    expect(await refusal('big', 'bare')).toContain('--seed-model does not say which model was trained');
    expect(await refusal('big', 'odd')).toContain('--seed-model names another model');
    expect(await refusal('big', 'again')).toContain('are both big with profiles');
    expect(await refusal('big', 'strict')).toContain('strict: parser (tolerant; strict)');
    const anyway = await evaluate(['cross', runs['big'] ?? '', runs['strict'] ?? '', '--anyway']);
    expect(anyway).toMatchObject({ status: 0, printed: expect.stringContaining('NOT COMPARABLE: strict: parser') });
    expect((await evaluate(['cross', runs['big'] ?? '', '/nowhere'])).status).toBe(1);
  });
});
