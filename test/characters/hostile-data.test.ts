import { readdirSync } from 'node:fs';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ImportReport } from '../../characters/importers/draft.ts';
import { importers } from '../../characters/importers/open-importer.ts';
import { dramatis } from '../rigs/command-rig.ts';
import { testFolder } from '../fakes/test-folder.ts';

const folder = testFolder();

let count = 0;

async function write(files: Readonly<Record<string, unknown>>): Promise<string> {
  count += 1;
  const place = path.join(folder, String(count));
  for (const [name, body] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(place, name)), { recursive: true });
    const isRaw = typeof body === 'string' || Buffer.isBuffer(body);
    await writeFile(path.join(place, name), isRaw ? body : JSON.stringify(body));
  }
  return place;
}

async function read(from: string, files: Readonly<Record<string, unknown>>): Promise<ImportReport> {
  const importer = await importers[from]?.();
  if (importer === undefined) throw new Error(from);
  return importer(await write(files));
}

const told = ({ problems }: ImportReport): string =>
  problems.map(({ where, what }) => `${path.basename(where)}: ${what}`).join('\n');

const gbk = Buffer.from([0x7b, 0x22, 0xc4, 0xe3, 0xba, 0xc3, 0x22, 0x7d]);
const role = { name: 'Mara', character: 'brave', style: 'dry', personality: 'ISTJ' };

describe('one bad file', () => {
  it.each([
    ['beyond-dialogue', role],
    ['wikidata', { label: 'Mara', description: 'a keeper' }],
  ])('a bad file is reported by name and skipped: %s', async (from, good) => {
    const report = await read(from, {
      'a.json': '{"name": ',
      'b.json': gbk,
      'c.json': '',
      'd.json': [1],
      'e.json': { ...good, name: 7, label: 7 },
      'f.json': `\uFEFF${JSON.stringify(good)}`,
    });
    expect(report.packs.map(({ card }) => card.name)).toEqual(['Mara']);
    const said = told(report);
    expect(said).toMatch(/a\.json: not valid JSON/);
    expect(said).toMatch(/b\.json: is not UTF-8 text/);
    expect(said).toMatch(/c\.json: not valid JSON/);
    expect(said).toMatch(/d\.json: n(?:ot|either)/);
    expect(said).toMatch(/e\.json: .*(?:name|label): .*expected string/);
  });

  it('a bad row loses the rest of its file, and no other file', async () => {
    const row = JSON.stringify({ role: 'Mara', question: 'Who built it?', generated: ['I did.'] });
    const report = await read('rolebench', {
      'role_specific/a.jsonl': Buffer.concat([Buffer.from(`${row}\n`), gbk, Buffer.from('\n')]),
      'role_specific/b.jsonl': row.replace('Who', 'When'),
      'profiles-eng/desc.json': gbk,
    });
    expect(report.packs[0]?.lines).toHaveLength(1);
    expect(told(report)).toMatch(/a\.jsonl: is not UTF-8 text/);
    expect(told(report)).toMatch(/desc\.json: is not UTF-8 text/);
  });
});

describe('hostile SpeechRole data', () => {
  const profile = (name: string): string => `I want you to act like ${name} from Skerry.\nYou keep a lighthouse.`;

  it('SpeechRole import takes 98 roles by key, whatever their names contain, and reads nothing outside its folder', async () => {
    const keys = ['Dr. Frank-N-Furter', 'Frank T.J. Mackey', 'D_Artagnan', 'HAL 9000', '小 海.v2'];
    const all = [...keys, ...Array.from({ length: 93 }, (_, index) => `Role ${index}`)];
    const names: Readonly<Record<string, string>> = { D_Artagnan: 'D’Artagnan' };
    const files = Object.fromEntries(
      all.map((key) => [`role_profiles/${key}_profile.txt`, profile(names[key] ?? key)]),
    );
    const transcripts = Object.fromEntries([...all, '../../outside', '__proto__'].map((key) => [key, 'hello']));
    const place = await write({ ...files, 'audios_text.json': transcripts });
    await writeFile(path.join(folder, 'outside_profile.txt'), profile('Spy'));
    const importer = await importers['speechrole']?.();
    const report = await importer?.(path.join(place));
    expect(report?.packs).toHaveLength(98);
    expect(new Set(report?.packs.map(({ card }) => card.id)).size).toBe(98);
    expect(report?.packs.map(({ card }) => card.name)).not.toContain('Spy');
    expect(report?.problems.filter(({ what }) => what.includes('describes'))).toEqual([]);
    expect(report?.problems.map(({ what }) => what)).toContain('no profile of the role "../../outside"');
  });

  it('SpeechRole import reports profiles without transcript and transcripts of another shape', async () => {
    const files = {
      'role_profiles/Mara_profile.txt': profile('Mara'),
      'role_profiles/Tom_profile.txt': profile('Tom'),
    };
    const report = await read('speechrole', { ...files, 'audios_text.json': { Mara: 'hello' } });
    expect(report.packs).toHaveLength(2);
    expect(told(report)).toContain('no transcript of the voice of "Tom"');
    expect(told(await read('speechrole', { ...files, 'audios_text.json': { Mara: 7 } }))).toMatch(
      /audios_text\.json: not one object with roles and transcripts: Mara: .*expected string/,
    );
  });
});

it('RoleBench import reads tens of thousands of rows of one role quickly and keeps 20,000', async () => {
  const rows = Array.from({ length: 60_000 }, (_, index) =>
    JSON.stringify({ role: 'Mara', question: `Question ${index}?`, generated: [`Answer ${index}.`] }),
  );
  const report = await read('rolebench', { 'role_specific/train.jsonl': rows.join('\n') });
  expect(report.packs[0]?.lines).toHaveLength(20_000);
  expect(told(report)).toContain('60000 lines; the first 20000 are used');
});

it('ChatHaruhi import reads a folder of packages one by one, without the frame that all prompts share', async () => {
  const system = `I want you to act like Mara from Skerry.\nI want you to respond and answer like Mara.\nShe keeps a light.`;
  const rows = [
    { text: system, bge_zh_s15: 'system_prompt' },
    { text: 'Tom:「Hm?」\nMara:「Hm.」', bge_zh_s15: Buffer.alloc(8).toString('base64') },
  ];
  const whole = rows.map((row) => JSON.stringify(row)).join('\n');
  const report = await read('chatharuhi', { 'mara.jsonl': whole, 'two.jsonl': whole, 'none.jsonl': '{}' });
  expect(report.packs.map(({ card }) => `${card.id}: ${card.profile}`)).toEqual([
    'mara: She keeps a light.',
    'two: She keeps a light.',
  ]);
  expect(told(report)).toContain('none.jsonl: contains no row of a ChatHaruhi package');
});

it('ChatHaruhi import reports vectors of another length by row', async () => {
  const vector = (length: number): string => Buffer.alloc(4 * length).toString('base64');
  const rows = [4, 4, 8].map((length) => ({ text: 'Tom:「Hm?」\nMara:「Hm.」', bge_zh_s15: vector(length) }));
  const place = await write({ 'mara.jsonl': rows.map((row) => JSON.stringify(row)).join('\n') });
  const importer = await importers['chatharuhi']?.();
  const report = await importer?.(path.join(place, 'mara.jsonl'));
  expect(told(report as ImportReport)).toContain('mara.jsonl:3: the embedding has 8 numbers, those before it 4');
});

describe('encyclopedias', () => {
  it('encyclopedias may write empty objects as arrays', async () => {
    const labels = { en: { language: 'en', value: 'Mara' } };
    const report = await read('wikidata', {
      'Q1.json': { entities: { Q1: { labels, aliases: [], claims: [], descriptions: [] } } },
    });
    expect(report.packs.map(({ card }) => card.name)).toEqual(['Mara']);
  });

  it('encyclopedia dumps may have bare entities, pages with extracts, and articles without a summary', async () => {
    const bare = {
      id: 'Q1',
      type: 'item',
      labels: { en: { value: 'Mara' } },
      claims: { P21: [{ mainsnak: { snaktype: 'somevalue' } }] },
    };
    const report = await read('wikidata', {
      'dump.jsonl': `${JSON.stringify(bare)}\n{"label":"Hai","wiki":{"content":"Hai keeps a light."}}`,
      'page.json': { title: 'Tom', description: 'a sailor', extract: 'Tom was a sailor.' },
      'query.json': { query: { pages: { 7: { pageid: 7, title: 'Jo', extract: 'Jo was a cook.' } } } },
    });
    expect(report.packs.map(({ card }) => card.name).toSorted()).toEqual(['Hai', 'Jo', 'Mara', 'Tom']);
    expect(report.packs.find(({ card }) => card.name === 'Hai')?.card.profile).toBe('Hai keeps a light.');
    expect(report.problems).toEqual([]);
  });
});

describe('dramatis characters import --from', () => {
  const data = path.join(folder, 'data');
  const packs = path.join(data, 'characters');

  const run = (...args: string[]) => dramatis('characters', 'import', ...args, '--data-dir', data);

  it('`import --from` says which character is replaced, and replaces none unasked', async () => {
    const from = ['--from', 'beyond-dialogue', await write({ 'a.json': { ...role, name: 'Alice' } })];
    expect((await run(...from)).stdout).toContain('replaces the built-in character of this id; --id keeps both');
    const again = await run(...from);
    expect(again).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('alice: a character with this id exists; --replace'),
    });
    await rm(packs, { recursive: true });
  });

  it('`import --from` takes another id for a single character, and says which pack hides it', async () => {
    const from = ['--from', 'beyond-dialogue', await write({ 'a.json': { ...role, name: 'Alice' } })];
    const evil = await run(...from, '--id', '../evil');
    const shipped = ['--characters-dir', path.join(import.meta.dirname, '../../characters')];
    const named = await run(...from, '--id', 'alice-two', ...shipped);
    expect(evil).toMatchObject({ status: 2, stderr: expect.stringContaining('lower-case words') });
    expect(named.stdout).toContain('alice-two: Alice');
    expect(named.stdout).not.toContain('note:');
    const own = path.join(folder, 'own');
    await cp(path.join(packs, 'alice-two'), path.join(own, 'alice-two'), { recursive: true });
    const hidden = await run(...from, '--id', 'alice-two', '--replace', '--characters-dir', own);
    expect(hidden.stdout).toMatch(
      /hidden by the character of this id in .*own, which takes precedence; --id keeps both/,
    );
    await rm(packs, { recursive: true });
  });

  it('`import --from` gives two characters of one name two ids, which no single id can replace', async () => {
    const place = await write({ 'a.json': { ...role, name: 'Alice' }, 'b.json': { ...role, name: 'alice' } });
    const ran = await run('--from', 'beyond-dialogue', place);
    const renamed = await run('--from', 'beyond-dialogue', place, '--id', 'x');
    expect(ran.stdout).toMatch(
      /alice: Alice[^]*remove alice` restores it[^]*alice-2: alice[^]*renamed: alice is another character/,
    );
    expect(renamed).toMatchObject({ status: 2, stderr: expect.stringContaining('--id needs exactly one character') });
    expect(readdirSync(packs).toSorted()).toEqual(['alice', 'alice-2']);
    await rm(packs, { recursive: true });
  });

  it('`import --from` reports a thousand like problems in twenty lines and a count', async () => {
    const rows = await write({ 'rows.jsonl': Array.from({ length: 1_000 }, () => 'x').join('\n') });
    const many = await run('--from', 'rolebench', path.join(rows, 'rows.jsonl'));
    expect(many.status).toBe(1);
    expect(many.stderr.trim().split('\n')).toHaveLength(21);
    expect(many.stderr).toContain('980 more like this');
  });
});
