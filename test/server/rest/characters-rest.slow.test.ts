import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadCharacters } from '../../../characters/character.ts';
import { loadSceneCasts } from '../../../characters/scene.ts';
import { blankPng } from '../../../characters/tavern/png.ts';
import { readCardBytes, writeCardBytes } from '../../../characters/tavern/open-card.ts';
import { openVoiceStore } from '../../../voices/library/store.ts';
import { cards } from '../../characters/tavern-cards.ts';
import { refusal, serveCharacters } from '../../rigs/characters-rig.ts';

const shipped = path.resolve(import.meta.dirname, '../../../characters');
const choice = { by: 'snr' as const, score: 30, clips: 1 };
const card = cards['V3, every field'] as { readonly data: object };

describe('/characters', () => {
  it('imports, changes and exports a character over HTTP with immediate effect', async () => {
    const { ask, bringIn, put, read, home } = await serveCharacters();
    expect(await (await bringIn(JSON.stringify(card))).json()).toMatchObject({ id: 'old-mara' });
    const pack = await read('old-mara');
    expect(pack).toMatchObject({ editable: true, card: { name: 'Old Mara' } });
    const changed = { card: { ...pack.card, tagline: 'Keeps the light' }, lines: pack.lines };
    expect((await put('old-mara', changed)).status).toBe(200);
    expect(JSON.stringify(await (await ask('/characters')).json())).toContain('Keeps the light');
    const png = Buffer.from(await (await ask('/characters/old-mara/export?format=png&spec=v2')).arrayBuffer());
    expect(readCardBytes(png, 'export').card).toMatchObject({ whole: expect.anything() });
    const source = await readFile(path.join(home, 'characters', 'old-mara', 'source.json'), 'utf8');
    expect(JSON.parse(source)).toEqual(JSON.parse(JSON.stringify(card)));
  });

  it('refuses invalid character requests with a code that explains what to do', async () => {
    const { ask, bringIn, put, read } = await serveCharacters();
    expect(await refusal(ask('/characters/nobody'))).toMatchObject({ status: 404, code: 'unknown_character' });
    const [first] = await loadCharacters(shipped);
    const { lines, ...own } = first ?? { lines: [] };
    expect(await refusal(put(first?.id ?? '', { card: own, lines }))).toMatchObject({ code: 'character_read_only' });
    await bringIn(JSON.stringify(card));
    expect(await refusal(bringIn(JSON.stringify(card)))).toMatchObject({ status: 409, code: 'character_exists' });
    expect(await refusal(bringIn('no card'))).toMatchObject({ status: 400, code: 'character_card_invalid' });
    expect(await refusal(bringIn(new Uint8Array(26 * 2 ** 20)))).toMatchObject({ status: 413 });
    const { card: good } = await read('old-mara');
    const tagline = 'x'.repeat(121);
    const long = refusal(put('old-mara', { card: { ...good, tagline }, lines: [] }));
    expect(await long).toMatchObject({ status: 400, code: 'text_too_long', param: 'card.tagline' });
    const renamed = refusal(put('old-mara', { card: { ...good, id: 'other' }, lines: [] }));
    expect(await renamed).toMatchObject({ code: 'invalid_value', param: 'card.id' });
    expect(await refusal(ask('/characters/old-mara/export?format=gif'))).toMatchObject({ param: 'format' });
  });

  it('reports every invalid field of a card at once', async () => {
    const { bringIn, put, read } = await serveCharacters();
    await bringIn(JSON.stringify(card));
    const { card: good } = await read('old-mara');
    const wrong = {
      ...good,
      name: ' ',
      mbti: 'ABCD',
      evasions: ['No.'],
      turnTaking: { patience: 3 },
      lorebook: [{ keys: ['x', '(?=y)'], regex: true, content: 'x' }],
      voice: { ...good.voice, gender: 'loud' },
      hat: true,
    };
    const { issues, code } = await refusal(put('old-mara', { card: wrong, lines: [{ asks: [], reply: 'Yes.' }] }));
    expect(code).toBe('invalid_value');
    expect(Object.fromEntries(issues.map(({ param, message }) => [param, message]))).toEqual({
      'card.name': 'This must not be empty.',
      'card.mbti': 'This must be four letters, such as INTP.',
      'card.evasions': 'At least 6 are required.',
      'card.turnTaking.patience': 'At most 1.',
      'card.lorebook.0.keys.1': expect.stringContaining('lookarounds'),
      'card.voice.gender': 'One of: female, male, neutral.',
      'lines.0.asks': 'At least one is required.',
      card: 'Unknown fields: hat.',
    });
  });

  it('refuses a card with a pattern that cannot run before it is written', async () => {
    const { bringIn, put, read, home } = await serveCharacters();
    await bringIn(JSON.stringify(card));
    const { card: good, lines } = await read('old-mara');
    const lorebook = [{ keys: ['(a+)+(?!b)'], regex: true, content: 'x' }];
    const refused = await refusal(put('old-mara', { card: { ...good, lorebook }, lines }));
    expect(refused).toMatchObject({ status: 400, param: 'card.lorebook.0.keys.0' });
    expect(refused.message).not.toContain(home);
    expect(await loadCharacters(path.join(home, 'characters'))).toHaveLength(1);
  });
});

describe('concurrent edits', () => {
  it('refuses the second of two concurrent edits of a character', async () => {
    const { bringIn, put, read } = await serveCharacters();
    await bringIn(JSON.stringify(card));
    const { revision, editable: _, ...pack } = await read('old-mara');
    const as = (tagline: string) => ({ card: { ...pack.card, tagline }, lines: pack.lines });
    const replies = await Promise.all([put('old-mara', as('one'), revision), put('old-mara', as('two'), revision)]);
    expect(replies.map(({ status }) => status)).toEqual([200, 412]);
    expect((await read('old-mara')).card.tagline).toBe('one');
    const late = refusal(put('old-mara', as('two'), revision));
    expect(await late).toMatchObject({ status: 412, code: 'character_changed' });
    const next = replies[0]?.headers.get('etag') ?? '';
    expect((await put('old-mara', as('three'), `"other", ${next}`)).status).toBe(200);
    expect((await put('old-mara', as('four'))).status).toBe(200);
  });

  it('refuses to delete a character that was changed in the meantime', async () => {
    const { ask, bringIn, put, read, home } = await serveCharacters();
    await bringIn(JSON.stringify(card));
    const { revision, card: own, lines } = await read('old-mara');
    await put('old-mara', { card: { ...own, tagline: 'new' }, lines });
    const remove = (ifMatch: string) =>
      ask('/characters/old-mara', { method: 'DELETE', headers: { 'if-match': ifMatch } });
    expect(await refusal(remove(revision))).toMatchObject({ status: 412, code: 'character_changed' });
    expect((await remove((await read('old-mara')).revision)).status).toBe(200);
    expect(await refusal(ask('/characters/old-mara'))).toMatchObject({ code: 'unknown_character' });
    expect(existsSync(path.join(home, 'characters', 'old-mara'))).toBe(false);
  });
});

describe('copies and pictures', () => {
  it('copies any character with picture and source into an editable one', async () => {
    const { ask, bringIn, read, sendJson } = await serveCharacters();
    const alice = await read('alice');
    expect(alice.editable).toBe(false);
    const copy = await sendJson('POST', '/characters?from=alice', { card: alice.card, lines: alice.lines });
    expect([copy.status, await copy.json()]).toEqual([201, { id: 'alice-2' }]);
    expect(await read('alice-2')).toMatchObject({ editable: true, lines: alice.lines });
    const file = { card: readCardBytes(Buffer.from(JSON.stringify(card)), 'x').card, files: new Map() };
    const png = Buffer.from(writeCardBytes({ ...file, picture: blankPng('x') }, 'png', 'v3'));
    await bringIn(png);
    const { card: own, lines } = await read('old-mara');
    await sendJson('POST', '/characters?from=old-mara', { card: { ...own, name: '守灯人' }, lines });
    const [, id] =
      JSON.stringify(await (await ask('/characters')).json()).match(/"id":"(character-[0-9a-f]{8})"/) ?? [];
    const picture = await ask(`/characters/${id}/picture`);
    expect(Buffer.from(await picture.arrayBuffer())).toEqual(png);
    expect(await refusal(ask('/characters/alice/picture'))).toMatchObject({ status: 404, code: 'not_found' });
    expect(await (await bringIn(png, '?as=copy')).json()).toMatchObject({ id: 'old-mara-2' });
    const anew = await sendJson('POST', '/characters', { card: { ...own, name: 'Anew' }, lines });
    expect(await anew.json()).toEqual({ id: 'anew' });
  });

  it('replaces the picture of a character without the card embedded in it', async () => {
    const { ask, bringIn } = await serveCharacters();
    await bringIn(JSON.stringify(card));
    const put = (id: string, body: BodyInit) =>
      ask(`/characters/${id}/picture`, {
        method: 'PUT',
        headers: { 'content-type': 'application/octet-stream' },
        body,
      });
    const file = { card: readCardBytes(Buffer.from(JSON.stringify(card)), 'x').card, files: new Map() };
    expect((await put('old-mara', Buffer.from(writeCardBytes(file, 'png', 'v3')))).status).toBe(200);
    const told = Buffer.from(await (await ask('/characters/old-mara/picture')).arrayBuffer());
    expect(() => readCardBytes(told, 'picture')).toThrow('contains no card');
    expect(await refusal(put('old-mara', 'GIF89a'))).toMatchObject({ status: 400, code: 'character_card_invalid' });
    expect(await refusal(put('alice', told))).toMatchObject({ status: 403, code: 'character_read_only' });
  });

  it('refuses an invalid copy of a character and explains why', async () => {
    const { sendJson, read } = await serveCharacters();
    const { card: own } = await read('alice');
    const refused = refusal(sendJson('POST', '/characters?from=alice', { card: { ...own, evasions: [] }, lines: [] }));
    expect(await refused).toMatchObject({ status: 400, param: 'card.evasions' });
  });

  it('refuses an import at once if the data folder cannot be created', async () => {
    const { bringIn } = await serveCharacters(undefined, '/proc/nowhere');
    expect(await refusal(bringIn(JSON.stringify(card)))).toMatchObject({ status: 500, code: 'internal_error' });
  });

  it('imports a character beside an unreadable pack under a free id', async () => {
    const { bringIn, home } = await serveCharacters();
    const broken = path.join(home, 'characters', 'old-mara', 'card.json');
    await mkdir(path.dirname(broken), { recursive: true });
    await writeFile(broken, '{');
    expect(await refusal(bringIn(JSON.stringify(card)))).toMatchObject({ status: 409, code: 'character_exists' });
    expect(await (await bringIn(JSON.stringify(card), '?as=copy')).json()).toMatchObject({ id: 'old-mara-2' });
    expect(await readFile(broken, 'utf8')).toBe('{');
  });

  it('refuses to delete a shipped character', async () => {
    const { ask } = await serveCharacters();
    const refused = refusal(ask('/characters/alice', { method: 'DELETE' }));
    expect(await refused).toMatchObject({ status: 403, code: 'character_read_only' });
  });
});

describe('character in a scene', () => {
  it('updates an edited character in its scenes and refuses to delete it', async () => {
    const { bringIn, read, put, ask, server } = await serveCharacters();
    await bringIn(JSON.stringify(card));
    const { characters } = server;
    const [mara, [scene]] = [characters.get('old-mara'), await loadSceneCasts(shipped, characters)];
    if (mara === undefined || scene?.stage === undefined) throw new Error('no scene comes along');
    characters.set('scene:skerry', { ...scene, name: 'Skerry', stage: { ...scene.stage, cast: [mara] } });
    const { card: own, lines } = await read('old-mara');
    await put('old-mara', { card: { ...own, tagline: 'Lit the lamp' }, lines });
    expect(characters.get('scene:skerry')?.stage?.cast[0]?.tagline).toBe('Lit the lamp');
    const refused = await refusal(ask('/characters/old-mara', { method: 'DELETE' }));
    expect(refused).toMatchObject({
      status: 409,
      code: 'character_in_scene',
      message: expect.stringContaining('"Skerry"'),
    });
    expect(await refusal(ask('/characters/scene:skerry'))).toMatchObject({ code: 'unknown_character' });
  });
});

describe('/voices', () => {
  it('lists library voices with consent and transcript and serves their clips', async () => {
    const { ask, home } = await serveCharacters();
    const store = openVoiceStore(home);
    const measured = { seconds: 4, snrDb: 30, pitch: null, speakingRate: null, quality: null, embedding: null };
    const clip = {
      file: 'clips/a.wav',
      sha256: 'a'.repeat(64),
      startMs: 0,
      endMs: 4_000,
      transcript: 'Mind the tide.',
    };
    const reference = { ...clip, transcribedBy: 'text file', measured, source: 'a.wav', choice };
    const consent = { note: 'Mara herself', recordedAt: '2026-01-01T00:00:00.000Z' };
    const record = { version: 1 as const, id: 'mara', language: 'en', licence: 'CC0', consent };
    await store.write({ ...record, reference });
    await store.write({ ...record, id: 'empty', reference: null });
    await store.writeClip('mara', clip.file, Buffer.from('RIFF'));
    const { version: _, ...facts } = record;
    expect(await (await ask('/voices')).json()).toEqual({
      voices: [{ ...facts, transcript: clip.transcript, seconds: 4 }],
    });
    expect(await (await ask('/voices/mara/clip')).text()).toBe('RIFF');
    expect(await refusal(ask('/voices/empty/clip'))).toMatchObject({ status: 404 });
    expect(await refusal(ask('/voices/..%2f..%2fetc/clip'))).toMatchObject({ status: 404 });
  });
});

describe('drafts', () => {
  it('opens a session with an unsaved draft of a character and stores nothing', async () => {
    const { server, sendJson, read } = await serveCharacters();
    const { card: own, lines } = await read('alice');
    const greetings = ['I am only a draft.'];
    const reply = await sendJson('POST', '/characters/draft', { card: { ...own, greetings }, lines });
    const { value } = (await reply.json()) as { value: string };
    const talk = server.call('?model=alice', { authorization: `Bearer ${value}` });
    const { session } = await talk.until('session.created');
    expect(session.x_dramatis).toMatchObject({ greeting: 'I am only a draft.' });
    talk.socket.close();
    expect((await read('alice')).card.greetings).not.toContain('I am only a draft.');
  });

  it('refuses an invalid draft of a character', async () => {
    const { sendJson, read } = await serveCharacters();
    const { card: own } = await read('alice');
    const refused = refusal(sendJson('POST', '/characters/draft', { card: { ...own, name: '' }, lines: [] }));
    expect(await refused).toMatchObject({ issues: [{ param: 'card.name', message: 'This must not be empty.' }] });
  });

  it('drops the oldest draft beyond sixteen', async () => {
    const { server, sendJson, read } = await serveCharacters();
    const { card: own, lines } = await read('alice');
    const values: string[] = [];
    for (let count = 0; count < 17; count += 1) {
      const reply = await sendJson('POST', '/characters/draft', { card: own, lines });
      values.push(((await reply.json()) as { value: string }).value);
    }
    const call = (value: string | undefined) => server.call('', { authorization: `Bearer ${value}` });
    expect(await call(values[0]).refused).toMatchObject({ status: 401, code: 'client_secret_expired' });
    const talk = call(values[1]);
    await talk.until('session.created');
    talk.socket.close();
  });
});
