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
