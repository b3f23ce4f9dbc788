import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadCharacter } from '../../../characters/character.ts';
import { blankPng } from '../../../characters/tavern/png.ts';
import { cards } from '../../characters/tavern-cards.ts';
import { serve } from '../../rigs/serve-rig.ts';
import { testFolder } from '../../fakes/test-folder.ts';

const [maker, other] = ['key-of-the-first-account', 'key-of-the-other-account'];
const card = JSON.stringify(cards['V3, every field']);

/** A server whose requests are sent with a key. */
async function open(apiKeys = `maker:${maker},${other}`, home?: string) {
  const dataDir = home ?? testFolder();
  const { url, characters } = await serve({ flags: { apiKeys, dataDir } });
  // The rig reads no data folder.
  if (home !== undefined) characters.set('old-mara', await loadCharacter(path.join(home, 'characters', 'old-mara')));
  const ask = async (
    key: string,
    method: string,
    place: string,
    body?: BodyInit,
    type = 'application/octet-stream',
  ) => {
    const headers = {
      ...(key === '' ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': type }),
    };
    const reply = await fetch(`${url}/characters${place}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    });
    // Untyped, because each test knows the fields of its response.
    const answer: any = await reply.json().catch(() => ({}));
    return { status: reply.status, body: answer };
  };
  return { ask, dataDir };
}

type Ask = Awaited<ReturnType<typeof open>>['ask'];

/** The three ways to change a character, with this key. */
async function changes(ask: Ask, key: string): Promise<unknown[]> {
  const { card: pack, lines } = (await ask(key, 'GET', '/old-mara')).body as { card: unknown; lines: unknown };
  const replies = [
    await ask(key, 'PUT', '/old-mara', JSON.stringify({ card: pack, lines }), 'application/json'),
    await ask(key, 'PUT', '/old-mara/picture', Buffer.from(blankPng('Mara'))),
    await ask(key, 'DELETE', '/old-mara'),
  ];
  return replies.map(({ status, body }) => (status === 200 ? 200 : body.error.code));
}

describe('a character on a server with several keys', () => {
  it('cannot be replaced or deleted with another key than the one that made it, but used and copied', async () => {
    const { ask } = await open();
    expect((await ask(maker, 'POST', '/import', card)).status).toBe(200);
    expect(await changes(ask, other)).toEqual(Array.from({ length: 3 }, () => 'character_not_yours'));
    expect((await ask(other, 'GET', '/old-mara')).body).toMatchObject({ editable: false });
    expect((await ask(other, 'GET', '/old-mara/export?format=json')).status).toBe(200);
    const copy = await ask(other, 'POST', '/import?as=copy', card);
    expect((await ask(other, 'DELETE', `/${copy.body.id}`)).status).toBe(200);
    expect((await ask(maker, 'GET', '/old-mara')).body).toMatchObject({ editable: true });
    expect(await changes(ask, maker)).toEqual([200, 200, 200]);
  });

  it('keeps its owner, hashed, when it is edited and after a restart', async () => {
    const { ask, dataDir } = await open();
    await ask(maker, 'POST', '/import', card);
    const { body } = await ask(maker, 'GET', '/old-mara');
    const pack = JSON.stringify({ card: body.card, lines: body.lines });
    expect((await ask(maker, 'PUT', '/old-mara', pack, 'application/json')).status).toBe(200);
    const folder = path.join(dataDir, 'characters', 'old-mara');
    expect(await readdir(folder)).toContain('owner');
    expect(await readFile(path.join(folder, 'owner'), 'utf8')).not.toMatch(/maker|key-of/);
    const again = await open(undefined, dataDir);
    expect(await changes(again.ask, other)).toEqual(Array.from({ length: 3 }, () => 'character_not_yours'));
  });

  it('belongs to the operator if no key made it, and to everybody on a server with one key or none', async () => {
    const alone = await open('');
    await alone.ask('', 'POST', '/import', card);
    const shared = await open(undefined, alone.dataDir);
    expect(await changes(shared.ask, maker)).toEqual(Array.from({ length: 3 }, () => 'character_not_yours'));
    const single = await open(`one:${maker},one:${other}`, alone.dataDir);
    expect(await changes(single.ask, other)).toEqual([200, 200, 200]);
  });
});
