import { zipSync } from 'fflate';
import { mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { fakeEngines } from '../../fakes/engines.ts';
import { refusal, serveCharacters } from '../../rigs/characters-rig.ts';

const small = { name: 'Mara', description: 'A keeper.', first_mes: 'Come in.' };

function cardOf(more: object = {}): string {
  return JSON.stringify({ ...small, ...more });
}

function charx(files: Readonly<Record<string, Uint8Array>>): Buffer<ArrayBuffer> {
  return Buffer.from(zipSync({ 'card.json': Buffer.from(cardOf()), ...files }));
}

const byte = new Uint8Array(1);

describe('CHARX of strangers', () => {
  it.each([
    ['a NUL', { 'assets/a\0b.png': byte }],
    ['a dot', { './a.png': byte }],
    ['400 letters', { [`assets/${'a'.repeat(400)}.png`]: byte }],
    ['nothing between two slashes', { 'assets//a.png': byte }],
    ['a file that is a folder too', { 'assets/a': byte, 'assets/a/b': byte }],
  ])('an archive with a file name of %s is refused with 400 and a code', async (_, files) => {
    const { bringIn, home } = await serveCharacters();
    expect(await refusal(bringIn(charx(files)))).toMatchObject({ status: 400, code: 'character_card_invalid' });
    expect(await readdir(home).catch(() => [])).toEqual([]);
  });

  it('an archive that unpacks to more than 32 MiB is refused with an error that names the limit', async () => {
    const { bringIn } = await serveCharacters();
    const told = await refusal(
      bringIn(charx({ 'assets/a': new Uint8Array(17 * 2 ** 20), 'assets/b': new Uint8Array(16 * 2 ** 20) })),
    );
    expect(told).toMatchObject({ status: 400, code: 'character_card_invalid' });
    expect(told.message).toContain('32 MiB');
  });

  it('reading a character and its picture reads none of its other files', async () => {
    const { bringIn, ask, home } = await serveCharacters();
    expect((await bringIn(charx({ 'assets/a.png': byte }))).status).toBe(200);
    // A file that cannot be read fails whoever reads it.
    await symlink('loop', path.join(home, 'characters/mara/assets/loop'));
    const assets = path.join(home, 'characters/mara/assets/assets');
    expect(await readdir(assets)).toEqual(['a.png']);
    expect(await (await ask('/characters/mara')).json()).toMatchObject({ picture: false });
    expect((await ask('/characters/mara/picture')).status).toBe(404);
  });
});

describe('cards of strangers', () => {
  it('a nickname of 100,000 letters is shortened', async () => {
    const { bringIn } = await serveCharacters();
    const reply = await bringIn(
      cardOf({ nickname: 'm'.repeat(100_000), mes_example: '<START>\n{{user}}: Hi\n{{char}}: Ho' }),
    );
    expect(reply.status).toBe(200);
    expect(await reply.json()).toMatchObject({ id: 'm'.repeat(64) });
  });

  it('no answer contains the folder of the characters', async () => {
    const { bringIn, home } = await serveCharacters();
    const folder = path.join(home, 'characters/mara');
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, 'notes.txt'), 'x');
    const told = await refusal(bringIn(cardOf()));
    expect(told).toMatchObject({ status: 400, code: 'character_card_invalid' });
    expect(told.message).toContain('mara: a character with this id');
    expect(told.message).not.toContain(home);
  });

  it('the server answers others while it reads a card that takes long', async () => {
    const { bringIn, ask } = await serveCharacters();
    const greetings = Array.from({ length: 100 }, () => '“'.repeat(40_000));
    let isRead = false;
    const reading = bringIn(cardOf({ alternate_greetings: greetings })).then((reply) => {
      isRead = true;
      return reply;
    });
    for (let count = 0; count < 5; count += 1) expect((await ask('/healthz')).status).toBe(200);
    expect(isRead).toBe(false);
    expect((await reading).status).toBe(200);
  });

  it('imported characters have a quota of number and of bytes', async () => {
    const few = await serveCharacters(fakeEngines(), undefined, { maxCharacters: '2' });
    for (const name of ['Ada', 'Bea']) expect((await few.bringIn(cardOf({ name }))).status).toBe(200);
    const third = await refusal(few.bringIn(cardOf({ name: 'Cleo' })));
    expect(third).toMatchObject({ status: 409, code: 'character_quota_exceeded' });
    expect(third.message).toContain('2 characters');
    const { card, lines } = await few.read('ada');
    expect((await few.put('ada', { card: { ...card, tagline: 'Changed.' }, lines })).status).toBe(200);

    const tight = await serveCharacters(fakeEngines(), undefined, { maxCharactersMb: '1' });
    const large = charx({ 'assets/a': new Uint8Array(2 ** 20) });
    expect(await refusal(tight.bringIn(large))).toMatchObject({ status: 409, code: 'character_quota_exceeded' });
    expect((await tight.bringIn(cardOf())).status).toBe(200);
  });

  it('all files and folders of an imported character are private', async () => {
    const { bringIn, home } = await serveCharacters();
    expect((await bringIn(charx({ 'assets/a.png': byte }))).status).toBe(200);
    const entries = await readdir(home, { recursive: true });
    expect(entries.length).toBeGreaterThan(5);
    const modes = ['.', ...entries].map(async (entry) => ({ entry, mode: (await stat(path.join(home, entry))).mode }));
    expect((await Promise.all(modes)).filter(({ mode }) => (mode & 0o077) !== 0)).toEqual([]);
  });
});
