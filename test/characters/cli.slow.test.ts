import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { cards } from './tavern-cards.ts';
import { testFolder } from '../fakes/test-folder.ts';

const folder = testFolder();

const main = path.resolve(import.meta.dirname, '../../server/main.ts');

interface Ran {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

function dramatis(...args: string[]): Promise<Ran> {
  const env = { ...process.env, DRAMATIS_DATA_DIR: path.join(folder, 'data') };
  return new Promise((resolve) => {
    execFile(process.execPath, [main, 'characters', ...args], { env, cwd: folder }, (fault, out, err) => {
      resolve({ status: typeof fault?.code === 'number' ? fault.code : 0, out, err });
    });
  });
}

describe('dramatis characters', () => {
  it('`characters` imports a card, lists and shows it, exports it unchanged and removes it', async () => {
    const card = cards['V3, every field'];
    await writeFile(path.join(folder, 'mara.json'), JSON.stringify(card));
    const imported = await dramatis('import', 'mara.json');
    expect(imported.out).toContain('Old Mara imported as old-mara, 2 example lines');
    expect((await dramatis()).out).toMatch(/^old-mara +Old Mara/m);
    expect((await dramatis('show', 'old-mara')).out).toContain('keeps the lighthouse of Skerry');
    expect((await dramatis('export', 'old-mara', '--format', 'json')).status).toBe(0);
    expect(JSON.parse(await readFile(path.join(folder, 'old-mara.json'), 'utf8'))).toEqual(
      JSON.parse(JSON.stringify(card)),
    );
    expect((await dramatis('import', 'mara.json')).err).toMatch(/--replace/);
    expect((await dramatis('import', 'mara.json', '--replace')).status).toBe(0);
    expect(readdirSync(path.join(folder, 'data', 'characters'))).toEqual(['old-mara']);
    expect((await dramatis('remove', 'old-mara')).status).toBe(0);
    expect((await dramatis('show', 'old-mara')).err).toMatch(/There is no character "old-mara"\. Known: .*alice/);
  });

  it('`characters show` writes no control characters of a card to the terminal', async () => {
    const { data, ...rest } = cards['V3, every field'] as { readonly data: object };
    const hostile = {
      ...data,
      name: 'Bob\u001B]0;title\u0007\u001B[31m\nx',
      nickname: '',
      description: 'A \u001B[2Jman.',
    };
    await writeFile(path.join(folder, 'hostile.json'), JSON.stringify({ ...rest, data: hostile }));
    const said = [
      await dramatis('import', 'hostile.json', '--id', 'bob'),
      await dramatis(),
      await dramatis('show', 'bob'),
    ];
    said.push(await dramatis('remove', 'bob'));
    for (const { out, err } of said) {
      expect(out + err).toContain('Bob');
      expect(out + err).not.toMatch(/[^\P{Cc}\n]/u);
    }
  });

  it('`characters import` says that the character replaces one that comes with Dramatis', async () => {
    await dramatis('export', 'alice', '--format', 'json');
    expect((await dramatis('import', 'alice.json')).out).toContain('replaces the built-in character');
    expect((await dramatis('import', 'alice.json', '--id', 'alice-two')).out).not.toContain('replaces');
    await dramatis('remove', 'alice');
    await dramatis('remove', 'alice-two');
  });

  it('`characters import` says what to do if a card cannot be read', async () => {
    expect((await dramatis('import', 'nowhere.png')).err).toContain(
      'nowhere.png: the file does not exist; check the path',
    );
    expect((await dramatis('import', '.')).err).toMatch(/\.: this is a folder; .*--from/);
  });

  it('`characters import` continues after a file that is no card, and says which and why', async () => {
    await writeFile(path.join(folder, 'bad.png'), 'nothing');
    await writeFile(path.join(folder, 'good.json'), JSON.stringify(cards['V1, six flat fields']));
    const ran = await dramatis('import', 'bad.png', 'good.json');
    expect(ran).toMatchObject({ status: 1, err: expect.stringContaining('bad.png: not valid JSON') });
    expect(ran.out).toContain('Mara imported as mara');
  });

  it('`characters check` checks card and lines, and fails only on contradictions', async () => {
    expect(await dramatis('check', 'alice')).toMatchObject({
      status: 0,
      out: expect.stringMatching(/^alice: \d+ lines, 0 contradictions/mu),
    });
    const pack = path.join(folder, 'data', 'characters', 'alice-two');
    const shipped = path.resolve(import.meta.dirname, '../../characters/alice');
    await mkdir(pack, { recursive: true });
    const card = await readFile(path.join(shipped, 'card.json'), 'utf8');
    await writeFile(path.join(pack, 'card.json'), card.replace('"id": "alice"', '"id": "alice-two"'));
    const line = { asks: ['Who are you?'], reply: 'I am an AI language model.' };
    await writeFile(path.join(pack, 'lines.jsonl'), `${JSON.stringify(line)}\n`);
    const ran = await dramatis('check', 'alice-two');
    expect(ran).toMatchObject({ status: 1, out: expect.stringContaining('✗ alice-two/lines.jsonl:1: the guard') });
  });

  it('`characters` lists the valid verbs and formats if one is wrong', async () => {
    expect(await dramatis('frobnicate')).toMatchObject({
      status: 2,
      err: expect.stringContaining('list, show, import'),
    });
    expect((await dramatis('export', 'alice', '--format', 'gif')).err).toContain('png, json, charx');
    expect((await dramatis('remove', 'alice')).err).toContain('was not imported');
  });
});
