import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadCharacters } from '../../characters/character.ts';
import { readCardBytes, writeCardBytes } from '../../characters/tavern/open-card.ts';
import { cards } from '../characters/tavern-cards.ts';
import { fakeEngines } from '../fakes/engines.ts';
import { hasBrowser, openBrowser, type TestBrowser } from '../fakes/browser.ts';
import { serve } from './serve-rig.ts';

const folder = await mkdtemp(path.join(tmpdir(), 'dramatis-card-editor-'));
afterAll(() => rm(folder, { recursive: true }));
const screenshots = process.env['DRAMATIS_SCREENSHOTS'];

const card = cards['V3, every field'] as { readonly data: object };
const hostile = {
  ...card,
  data: {
    ...card.data,
    nickname: '<script>window.owned = 1</script>Mara',
    description: '<img src=x onerror="window.owned=1">',
  },
};

let server: Awaited<ReturnType<typeof serve>>;
let data = 0;
beforeEach(async () => {
  const dataDir = path.join(folder, String((data += 1)));
  server = await serve({ engines: fakeEngines(), flags: { dataDir } });
});

function ask(place: string, options: RequestInit = {}): Promise<Response> {
  return fetch(`${server.url}${place}`, options);
}

function bringIn(bytes: BodyInit): Promise<Response> {
  return ask('/characters/import', {
    method: 'POST',
    headers: { 'content-type': 'application/octet-stream' },
    body: bytes,
  });
}

function put(id: string, body: unknown): Promise<Response> {
  return ask(`/characters/${id}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

async function refusal(reply: Promise<Response>): Promise<{ status: number; code: string; param: string | null }> {
  const answered = await reply;
  const { error } = (await answered.json()) as { error: { code: string; param: string | null } };
  return { status: answered.status, code: error.code, param: error.param };
}

describe('characters over HTTP', () => {
  it('come in, are read, changed and taken out again, and are there at once', async () => {
    expect(await (await bringIn(JSON.stringify(card))).json()).toMatchObject({ id: 'old-mara' });
    const pack = (await (await ask('/characters/old-mara')).json()) as { card: object; lines: object[] };
    expect(pack).toMatchObject({ editable: true, card: { name: 'Old Mara' } });
    const changed = { card: { ...pack.card, tagline: 'Keeps the light' }, lines: pack.lines };
    expect((await put('old-mara', changed)).status).toBe(200);
    expect(JSON.stringify(await (await ask('/characters')).json())).toContain('Keeps the light');
    const png = Buffer.from(await (await ask('/characters/old-mara/export?format=png&spec=v2')).arrayBuffer());
    expect(readCardBytes(png, 'export').card).toMatchObject({ whole: expect.anything() });
    const source = await readFile(path.join(folder, String(data), 'characters', 'old-mara', 'source.json'), 'utf8');
    expect(JSON.parse(source)).toEqual(JSON.parse(JSON.stringify(card)));
  });

  it('are refused with a code that says what to do', async () => {
    expect(await refusal(ask('/characters/nobody'))).toMatchObject({ status: 404, code: 'unknown_character' });
    const shipped = (await loadCharacters(path.resolve(import.meta.dirname, '../../characters')))[0];
    const { lines, ...own } = shipped ?? { lines: [] };
    expect(await refusal(put(shipped?.id ?? '', { card: own, lines }))).toMatchObject({ code: 'character_read_only' });
    await bringIn(JSON.stringify(card));
    expect(await refusal(bringIn(JSON.stringify(card)))).toMatchObject({ status: 409, code: 'character_exists' });
    expect(await refusal(bringIn('no card'))).toMatchObject({ status: 400, code: 'character_card_invalid' });
    expect(await refusal(bringIn(new Uint8Array(26 * 2 ** 20)))).toMatchObject({ status: 413 });
    const { card: good } = (await (await ask('/characters/old-mara')).json()) as { card: object };
    const tagline = 'x'.repeat(121);
    const long = refusal(put('old-mara', { card: { ...good, tagline }, lines: [] }));
    expect(await long).toMatchObject({ status: 400, code: 'text_too_long', param: 'card.tagline' });
    const renamed = refusal(put('old-mara', { card: { ...good, id: 'other' }, lines: [] }));
    expect(await renamed).toMatchObject({ code: 'invalid_value', param: 'card.id' });
    expect(await refusal(ask('/characters/old-mara/export?format=gif'))).toMatchObject({ param: 'format' });
  });
});

describe.skipIf(!hasBrowser('the page of characters'))('the page of characters, in a real browser', () => {
  let browser: TestBrowser;
  beforeAll(async () => {
    browser = await openBrowser();
  }, 60_000);
  afterAll(() => browser?.close());

  it('shows, brings in and saves characters, and runs nothing that stands in a card', async () => {
    const page = await browser.newPage();
    page.setDefaultTimeout(15_000);
    await page.goto(`${server.url}/characters.html`);
    await page.click('#list >> text=Sherlock Holmes');
    await page.locator('#card input[name="tagline"]').waitFor();
    expect(await page.locator('#save').isVisible()).toBe(false);
    expect(await page.locator('#card input[name="tagline"]').isDisabled()).toBe(true);
    if (screenshots !== undefined) await page.screenshot({ path: path.join(screenshots, 'characters.png') });
    const buffer = Buffer.from(
      writeCardBytes(
        { card: readCardBytes(Buffer.from(JSON.stringify(hostile)), 'x').card, files: new Map() },
        'png',
        'v3',
      ),
    );
    await page.setInputFiles('#upload', { name: 'mara.png', mimeType: 'image/png', buffer });
    await expect.poll(() => page.locator('#notice').innerText(), { timeout: 10_000 }).toContain('Brought in');
    await page.fill('#card input[name="tagline"]', '<img src=x onerror="window.owned=1"> light');
    await page.click('#save');
    await page.locator('#notice >> text=Saved').waitFor();
    expect(await page.locator('#list').innerText()).toContain('<img src=x onerror="window.owned=1"> light');
    await page.fill('#card input[name="name"]', '');
    await page.click('#save');
    await page.locator('#notice >> text=card.name').waitFor();
    if (screenshots !== undefined) await page.screenshot({ path: path.join(screenshots, 'editing.png') });
    expect(await page.evaluate('window.owned')).toBeUndefined();
  }, 60_000);
});
