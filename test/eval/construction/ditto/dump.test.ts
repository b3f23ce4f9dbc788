import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import type { WikiCharacter } from '../../../../eval/construction/ditto/characters.ts';
import { dramatis } from '../../../rigs/command-rig.ts';
import { openScratch } from '../../scratch.ts';
import { jsonLines } from '../rig/build-rig.ts';

const term = (value: string): object => ({ en: { language: 'en', value }, de: { language: 'de', value: 'x' } });
const item = (property: string, id: string): object => ({
  mainsnak: { snaktype: 'value', property, datatype: 'wikibase-item', datavalue: { value: { id } } },
});

/** An entity as dumps have it. */
function entityOf(id: string, label: string, kind: string, links: number): object {
  const sitelinks = Object.fromEntries(Array.from({ length: links }, (_, at) => [`w${at}wiki`, { title: label }]));
  return {
    type: id.startsWith('P') ? 'property' : 'item',
    id,
    labels: term(label),
    descriptions: term(`${label}, described`),
    aliases: { en: [{ language: 'en', value: `${label} II` }] },
    claims: kind === '' ? {} : { P31: [item('P31', kind)], P106: [item('P106', 'Q99')] },
    sitelinks,
  };
}

const entities = [
  entityOf('Q3', 'A person hardly known', 'Q5', 3),
  entityOf('Q1', 'Irene Adler', 'Q15632617', 60),
  entityOf('Q2', 'Adelina Patti', 'Q5', 50),
  entityOf('Q4', 'Jenny Lind', 'Q5', 70),
  entityOf('Q7', 'Warsaw', 'Q515', 300),
  entityOf('Q99', 'singer', '', 90),
  entityOf('P106', 'occupation', '', 0),
];
const dump = `[\n${entities.map((each) => JSON.stringify(each)).join(',\n')}\n]\n`;

it.each([
  ['latest-all.json', Buffer.from(dump)],
  ['latest-all.json.gz', gzipSync(dump)],
])('characters are collected from the dump %s, the most linked first, without a request', async (name, bytes) => {
  await using scratch = await openScratch();
  const [file, out] = [path.join(scratch.path, name), path.join(scratch.path, 'characters.jsonl')];
  await writeFile(file, bytes);
  const args = ['--dump', file, '--out', out, '--limit', '1', '--least-links', '10'];
  expect(await dramatis('data', 'collect', ...args)).toMatchObject({ status: 0 });
  const found = jsonLines<WikiCharacter>(await readFile(out, 'utf8'));
  expect(found.map(({ label }) => label)).toEqual(['Jenny Lind', 'Irene Adler']);
  expect(found[0]).toEqual({
    id: 'Q4',
    label: 'Jenny Lind',
    description: 'Jenny Lind, described',
    aliases: ['Jenny Lind II'],
    claims: [['occupation', 'singer']],
    lang: 'en',
    summary: '',
  });
});

it.each([
  ['cut.json', Buffer.from(dump.slice(0, 2_000)), 'cut off'],
  ['cut.json.gz', gzipSync(dump).subarray(0, 200), 'cannot be read to its end'],
  ['dump.json.bz2', Buffer.from('BZh9'), 'must be unpacked first'],
])('the damaged dump %s is a clear error, and leaves no file', async (name, bytes, why) => {
  await using scratch = await openScratch();
  const [file, out] = [path.join(scratch.path, name), path.join(scratch.path, 'characters.jsonl')];
  await writeFile(file, bytes);
  const { status, stdout } = await dramatis('data', 'collect', '--dump', file, '--out', out);
  expect([status > 0, stdout]).toEqual([true, expect.stringContaining(why)]);
  await expect(readFile(out)).rejects.toThrow('ENOENT');
});
