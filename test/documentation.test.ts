import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandHelp } from '../server/cli/usage.ts';
import { flagOf, settingFacts } from '../server/config.ts';
import { errorTable } from '../server/errors.ts';

const root = path.resolve(import.meta.dirname, '..');
const readme = readFileSync(path.join(root, 'README.md'), 'utf8');

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

  it('gives the reason for every dependency', () => {
    const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as Record<
      string,
      Record<string, string>
    >;
    const all = { ...manifest['dependencies'], ...manifest['optionalDependencies'], ...manifest['devDependencies'] };
    expect(tableKeys('Dependencies').toSorted()).toEqual(Object.keys(all).toSorted());
  });
});
