import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { chatKinds } from '../agents/actor/open.ts';
import { commandHelp } from '../server/terminal/commands.ts';
import { settingsPage } from '../server/config/settings-page.ts';
import { embeddedKinds } from '../server/engines/engine-plan.ts';
import { turnDetectorKinds } from '../server/engines/engines-file.ts';
import { errorTable } from '../server/session/contract/errors.ts';
import { omniKinds, recognizerKinds, synthesizerKinds } from '../server/engines/voice-kinds.ts';
import { speechDialects } from '../voices/synthesizers/openai-speech-dialects.ts';

const root = path.resolve(import.meta.dirname, '..');
const read = (page: string): string => readFileSync(path.join(root, page), 'utf8');
const readme = read('README.md');

/** What is too long for the README. */
const pages = [
  'DEPENDENCIES.md',
  'voices/ENGINES.md',
  'voices/MODELS.md',
  'voices/VOICES.md',
  'characters/CHARACTERS.md',
  'server/CLIENTS.md',
  'server/ERRORS.md',
  'server/GLOSSARY.md',
  'server/PROTOCOL.md',
  'server/SETTINGS.md',
  'server/memory/MEMORY.md',
  'eval/SPEECHROLE.md',
  'test/bench/MEASURED.md',
];

/** The pages above and the READMEs of all folders. */
const everyPage = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.md') && !file.includes('node_modules'),
);

/** The cells of the rows of a table of the page on engines whose heading begins like this. */
function rowsOf(tableHead: string): string[][] {
  const page = read('voices/ENGINES.md');
  const from = page.slice(page.indexOf(tableHead)).split('\n');
  const end = from.findIndex((line) => !line.startsWith('|'));
  const rows = from.slice(2, end);
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

/** The first cells of the rows of the table under a heading of a page, code marks removed. */
function tableKeys(page: string, heading: string): string[] {
  const sections = read(page).split(/^#{1,3} /m);
  const section = sections.find((part) => part.startsWith(heading)) ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('| `'));
  return rows.map((row) => (row.split('|')[1] ?? '').replaceAll('`', '').trim());
}

/** The headings of the README that messages of the program send readers to, as in `(README, “Languages”)`, each once. */
function headingsTold(): string[] {
  const files = ['server', 'voices', 'agents', 'characters', 'eval'].flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.[jt]s$/.test(name))
      .map((name) => path.join(folder, name)),
  );
  const told = files.flatMap((file) => [
    ...read(file).matchAll(/README, ["“](?<heading>[^"”]+)["”]|“(?<heading>[^”]+)” (?:in|of) the README/g),
  ]);
  return [...new Set(told.map((match) => match.groups?.['heading'] ?? ''))];
}

/** The names that links give to the headings of a page. */
function anchorsOf(page: string): string[] {
  const headings = [...read(page).matchAll(/^#+ (.+)$/gm)].map((match) => match[1] ?? '');
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  );
}

describe('the README and the pages it leads to', () => {
  it('opens with the two commands', () => {
    expect(readme.slice(0, 1_000)).toContain('npm ci && npm start');
  });

  it.each(pages)('leads to %s', (page) => {
    expect(readme).toContain(`(${page}`);
  });

  it.each(everyPage)('links only to existing files and headings: %s', (page) => {
    const links = [...read(page).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)];
    for (const [whole, file = '', anchor] of links) {
      const target = file === '' ? page : path.join(path.dirname(page), file);
      expect([whole, existsSync(path.join(root, target))]).toEqual([whole, true]);
      if (anchor !== undefined) expect([whole, anchorsOf(target)]).toEqual([whole, expect.arrayContaining([anchor])]);
    }
  });

  it('has each section that messages send readers to', () => {
    const headings = [...readme.matchAll(/^#+ ([^:\n]+)/gm)].map((match) => match[1]);
    expect(headingsTold().length).toBeGreaterThan(3);
    expect(headings).toEqual(expect.arrayContaining(headingsTold()));
  });

  it('lists every error code, and no other', () => {
    expect(tableKeys('server/ERRORS.md', 'Errors').toSorted()).toEqual(Object.keys(errorTable).toSorted());
  });

  it('says of every error what the program says', () => {
    const page = read('server/ERRORS.md');
    for (const [code, [, remedy]] of Object.entries(errorTable)) expect(page).toContain(`| \`${code}\` | ${remedy} |`);
  });

  it('has a page of settings that is current: `npm run settings` writes it', () => {
    expect(read('server/SETTINGS.md')).toBe(settingsPage());
  });

  it('lists every command, and no other', () => {
    expect(tableKeys('README.md', 'Commands')).toEqual(Object.keys(commandHelp));
  });

  it('states for every kind of engine its model, protocol, features, licence, and what was verified', () => {
    const head = '| kind | what | transport | clones | streams | languages | licence | verified, and how |';
    const kinds = [recognizerKinds, synthesizerKinds, omniKinds, chatKinds].flatMap((each) => Object.keys(each));
    const rows = rowsOf(head);
    const told = rows.map(([kind = '']) => kind.replaceAll('`', ''));
    const all = new Set([...kinds, ...turnDetectorKinds, ...Object.values(embeddedKinds)]);
    expect(told.toSorted()).toEqual([...all].toSorted());
    for (const row of rows) expect([row[0], row.filter((cell) => cell !== '').length]).toEqual([row[0], 8]);
  });

  it('states for every speech dialect its server, features and licence', () => {
    const rows = rowsOf('| `openai-speech` dialect | server | clones | streams | licence |');
    const told = rows.flatMap(([names = '']) => names.replaceAll('`', '').split(', '));
    expect(told.toSorted()).toEqual(Object.keys(speechDialects).toSorted());
    for (const row of rows) expect([row[0], row.filter((cell) => cell !== '').length]).toEqual([row[0], 5]);
  });

  it('has a glossary that lists each term once, with existing files and folders', () => {
    const rows = read('server/GLOSSARY.md')
      .split('\n')
      .filter((line) => /^\| (?!term|---)/.test(line))
      .map((line) => line.split('|').map((cell) => cell.trim()));
    expect(rows.length).toBeGreaterThan(45);
    const terms = rows.map(([, term]) => term);
    expect(terms).toEqual([...new Set(terms)]);
    for (const [, term, , places = ''] of rows)
      for (const [, place = ''] of places.matchAll(/`([^`]+)`/g))
        expect([term, place, existsSync(path.join(root, place))]).toEqual([term, place, true]);
  });

  it('gives the reason for every dependency', () => {
    const manifest = JSON.parse(read('package.json')) as Record<string, Record<string, string>>;
    const all = { ...manifest['dependencies'], ...manifest['optionalDependencies'], ...manifest['devDependencies'] };
    expect(tableKeys('DEPENDENCIES.md', 'Packages').toSorted()).toEqual(Object.keys(all).toSorted());
  });

  it('states the licence of every dependency, and that the ffmpeg builds are GPL', () => {
    const rows = [...read('DEPENDENCIES.md').matchAll(/^\| `([^`]+)` \| ([^|]+) \| [^|]+ \|$/gm)];
    const installed = rows.flatMap(([, name = '', told = '']) => {
      const manifest = path.join('node_modules', name, 'package.json');
      // Optional packages may be left out.
      if (!existsSync(path.join(root, manifest))) return [];
      const { license } = JSON.parse(read(manifest)) as { readonly license: string };
      return [[name, told.split(';')[0], license] as const];
    });
    expect(installed.length).toBeGreaterThan(30);
    for (const [name, told, license] of installed) expect([name, told]).toEqual([name, license]);
    expect(read('DEPENDENCIES.md')).toMatch(/`@ffmpeg-installer\/ffmpeg` \| [^|]*GPL-3\.0/);
  });
});
