import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { runData } from '../../../../eval/construction/cli/data.ts';
import { pipelineNames } from '../../../../eval/construction/cli/pipelines.ts';
import { openScratch } from '../../scratch.ts';
import { coserScript } from '../coser/coser-script.ts';
import { openScriptedServer } from '../rig/scripted-server.ts';

const book = path.resolve(import.meta.dirname, '../books-in-public-domain/a-scandal-in-bohemia.txt');

/** Runs a command in this process. Resolves to its status and what it printed. */
async function data(...args: string[]): Promise<{ readonly status: number; readonly text: string }> {
  const said: string[] = [];
  const signal = new AbortController().signal;
  const status = await runData(args, {
    signal,
    environment: {},
    print: (text) => said.push(text),
    note: () => undefined,
    openStudio: () => Promise.reject(new Error('no engines here')),
  });
  return { status, text: said.join('\n') };
}

it('a build is estimated, made, checked and exported by commands', async () => {
  await using scratch = await openScratch();
  await using server = await openScriptedServer(coserScript(['Sherlock Holmes', 'Doctor Watson', 'King of Bohemia']));
  const source = ['build', 'coser', '--in', book, '--rights', 'public domain', '--chunk-tokens', '2000'];
  const estimate = await data(...source, '--dry-run', '--prices', '1,2');
  expect([estimate.status, server.calls]).toEqual([0, []]);
  expect(estimate.text).toMatch(/extract\s+7 records, 7 calls, .* tokens, \$0\.0\d/);
  const built = path.join(scratch.path, 'built');
  const stages = ['refine', 'names', 'profiles'].map((stage) => `${stage}=${server.url}#${stage}`).join(',');
  expect(await data(...source, '--out', built, '--model', `${server.url}#extract,${stages}`)).toMatchObject({
    status: 0,
  });
  expect(await readFile(path.join(built, 'README.md'), 'utf8')).toContain('public domain');
  const checked = await data('check', built);
  expect(checked.text).toMatch(/split\s+train \d+, test \d+/);
  const out = path.join(scratch.path, 'out');
  expect(await data('export', built, '--format', 'chatml', '--out', out, '--role', 'Doctor Watson')).toMatchObject({
    status: 0,
  });
  expect(await readFile(path.join(out, 'train.jsonl'), 'utf8')).toContain('You are Doctor Watson.');
});

it('a mistake in a command line names what there is', async () => {
  expect((await data()).status).toBe(2);
  expect(await data('make')).toMatchObject({ status: 2, text: expect.stringContaining('build') as string });
  const wrong = await data('build', 'sequel', '--in', book, '--rights', 'none');
  expect(wrong).toMatchObject({ status: 2, text: expect.stringContaining(pipelineNames.join(', ')) as string });
  const format = await data('export', 'x', '--format', 'word', '--out', 'y');
  expect(format).toMatchObject({ status: 2, text: expect.stringContaining('ms-swift') as string });
});

it.each(['', 'build', 'speak', 'voices', 'review', 'collect', 'export', 'import', 'mix', 'check'])(
  'the help of “data %s” fits 80 columns',
  async (command) => {
    const { text } = await data(...[command, '--help'].filter(Boolean));
    expect(text.split('\n').filter((line) => Array.from(line).length > 80)).toEqual([]);
  },
);
