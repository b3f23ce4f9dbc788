import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { chatKinds } from '../agents/open.ts';
import { commandHelp } from '../server/cli/usage.ts';
import { flagOf, settingFacts } from '../server/config.ts';
import { embeddedKinds } from '../server/engine-config/engine-plan.ts';
import { turnKinds } from '../server/engine-config/engines-file.ts';
import { errorTable } from '../server/errors.ts';
import { omniKinds, recognizerKinds, synthesizerKinds } from '../voices/open.ts';
import { speechDialects } from '../voices/synthesizers/openai-speech-dialects.ts';

const root = path.resolve(import.meta.dirname, '..');
const readme = readFileSync(path.join(root, 'README.md'), 'utf8');

/** The cells of the rows of a table whose heading begins like this. */
function rowsOf(tableHead: string): string[][] {
  const from = readme.slice(readme.indexOf(tableHead)).split('\n');
  const end = from.findIndex((line) => !line.startsWith('|'));
  const rows = from.slice(2, end);
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

/** The first cells of the rows of the table under a heading, code marks removed. */
function tableKeys(heading: string): string[] {
  const section = readme.split(/^#{2,3} /m).find((part) => part.startsWith(heading)) ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('| `'));
  return rows.map((row) => (row.split('|')[1] ?? '').replaceAll('`', '').trim());
}

describe('the README', () => {
  it('opens with the two commands', () => {
    expect(readme.slice(0, 1_000)).toContain('npm ci && npm start');
  });

  it('lists every error code, and no other', () => {
    expect(tableKeys('Errors').toSorted()).toEqual(Object.keys(errorTable).toSorted());
  });

  it('lists every setting by its environment name, and no other', () => {
    expect(tableKeys('Settings').toSorted()).toEqual(
      Object.values(settingFacts)
        .map(({ env }) => env)
        .toSorted(),
    );
  });

  it('names the flag of every setting', () => {
    for (const name of Object.keys(settingFacts)) expect(readme).toContain(`\`--${flagOf(name)}\``);
  });

  it('lists every command, and no other', () => {
    expect(tableKeys('Commands')).toEqual(Object.keys(commandHelp));
  });

  it('tells of every kind of engine what it is, how it is reached, what it can, its licence, and what was verified', () => {
    const head = '| kind | what | transport | clones | streams | languages | licence | verified, and how |';
    const kinds = [recognizerKinds, synthesizerKinds, omniKinds, chatKinds].flatMap((each) => Object.keys(each));
    const rows = rowsOf(head);
    const told = rows.map(([kind = '']) => kind.replaceAll('`', ''));
    const all = new Set([...kinds, ...turnKinds, ...Object.values(embeddedKinds)]);
    expect(told.toSorted()).toEqual([...all].toSorted());
    for (const row of rows) expect([row[0], row.filter((cell) => cell !== '').length]).toEqual([row[0], 8]);
  });

  it('tells of every dialect of speech its server, what it can, and its licence', () => {
    const rows = rowsOf('| `openai-speech` dialect | server | clones | streams | licence |');
    const told = rows.flatMap(([names = '']) => names.replaceAll('`', '').split(', '));
    expect(told.toSorted()).toEqual(Object.keys(speechDialects).toSorted());
    for (const row of rows) expect([row[0], row.filter((cell) => cell !== '').length]).toEqual([row[0], 5]);
  });

  it('gives the reason for every dependency', () => {
    const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as Record<
      string,
      Record<string, string>
    >;
    const all = { ...manifest['dependencies'], ...manifest['optionalDependencies'], ...manifest['devDependencies'] };
    expect(tableKeys('Dependencies').toSorted()).toEqual(Object.keys(all).toSorted());
  });
});
