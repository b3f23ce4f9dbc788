import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readCard } from '../../../characters/tavern/card-file.ts';
import { readCardBytes, writeCardBytes } from '../../../characters/tavern/open-card.ts';
import { openVoiceStore } from '../../../voices/library/store.ts';
import { cards } from '../../characters/tavern-cards.ts';
import { hasBrowser, openBrowser, type TestBrowser } from '../../fakes/network/browser.ts';
import { serveCharacters } from '../../rigs/characters-rig.ts';
import { keep } from '../../rigs/page-rig.ts';

const mara = JSON.stringify(cards['V3, every field']);
const sheet = '#card [role=tabpanel]:not([hidden])';

describe.skipIf(!hasBrowser('the page of characters'))('card editor', () => {
  let browser: TestBrowser;
  beforeAll(async () => {
    browser = await openBrowser();
  }, 60_000);
  afterAll(() => browser?.close());

  async function openPage(url: string, id = ''): Promise<Page> {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    page.setDefaultTimeout(15_000);
    await page.goto(`${url}/characters.html#${id}`);
    await page.locator('#list button').first().waitFor();
    if (id !== '') await page.locator('#card [name="tagline"]').waitFor();
    return page;
  }

  async function save(page: Page): Promise<void> {
    await page.click('#save');
    await page.locator('#notice >> text=Saved').waitFor();
  }

  it('edits every field of a card and saves nothing else', async () => {
    const { server, home, bringIn, read, ask } = await serveCharacters();
    await openVoiceStore(home).write(clipOfMara);
    await bringIn(mara);
    const before = await read('old-mara');
    const page = await openPage(server.url, 'old-mara');
    const tab = (name: string) => page.click(`[role=tab]:text-is("${name}")`);

    await page.fill('#card [name="name"]', '灯塔的玛拉');
    await page.click('text=Add person');
    await page.fill(`${sheet} .rows [name="name"]`, '阿灯');
    await page.fill(`${sheet} .rows [name="relation"]`, '她的外孙');
    await tab('Style');
    await page.locator(`${sheet} .items textarea`).first().fill('Two\nlines.');
    await page.keyboard.press('Alt+ArrowDown');
    expect(await page.locator(`${sheet} .items textarea`).nth(1).inputValue()).toBe('Two\nlines.');
    await page.locator('[role=tab][aria-selected=true]').focus();
    await page.keyboard.press('ArrowRight');
    expect(await page.locator('[role=tab]:focus').innerText()).toBe('Lines');
    await page.click('text=Add line');
    await page.locator(`${sheet} [name="asks"]`).last().fill('Who lit it?\nWho was it?');
    await page.locator(`${sheet} [name="reply"]`).last().fill('I did.');
    await page.locator(`${sheet} [name="emotion"]`).last().selectOption('calm');
    await tab('Lorebook');
    await page.locator(`${sheet} summary`).nth(1).click();
    await page.locator(`${sheet} [name="secondaryKeys"]`).fill('steps\n台阶');
    await page.locator(`${sheet} [name="order"]`).fill('7');
    await page.locator(`${sheet} details[open] [name="regex"]`).check();
    await page.locator('[aria-label="Remove Entry 5"]').click();
    await tab('Voice');
    await page.locator(`${sheet} [name="reference"]`).selectOption('mara');
    expect(await page.locator('.clip').innerText()).toMatch(/Mara herself, by letter[^]*CC0[^]*Mind the tide/);
    await page.locator(`${sheet} [name="patience"]`).fill('0.9');
    await page.click('text=Add word');
    await page.fill(`${sheet} [name="word"]`, 'Skerry');
    await page.fill(`${sheet} [name="sound"]`, 'Skeh-ree');
    await keep(page, 'editor-voice');
    await save(page);

    const { card, lines } = await read('old-mara');
    const [first, tower, ...others] = before.card.lorebook;
    expect(card).toEqual({
      ...before.card,
      name: '灯塔的玛拉',
      relationships: [{ name: '阿灯', relation: '她的外孙' }],
      greetings: [before.card.greetings[1], 'Two\nlines.', ...before.card.greetings.slice(2)],
      lorebook: [first, { ...tower, secondaryKeys: ['steps', '台阶'], order: 7, regex: true }, ...others.slice(0, -1)],
      voice: { ...before.card.voice, reference: 'mara' },
      turnTaking: { ...before.card.turnTaking, patience: 0.9 },
      speech: { ...before.card.speech, pronunciations: { Skerry: 'Skeh-ree' } },
    });
    expect(lines).toEqual([
      ...before.lines,
      { asks: ['Who lit it?', 'Who was it?'], reply: 'I did.', emotion: 'calm' },
    ]);
    const out = readCardBytes(Buffer.from(await (await ask('/characters/old-mara/export')).arrayBuffer()), 'out').card;
    const came = readCard(JSON.parse(mara), 'came');
    expect(out.data.character_book?.entries[0]).toEqual(came.data.character_book?.entries[0]);
    expect(out.data.assets).toEqual(came.data.assets);
    const clip = { transcript: 'Mind the tide.', language: 'en', licence: 'CC0', consent: clipOfMara.consent.note };
    expect(out.data.extensions['x_voice']).toEqual({ ...card.voice, clip });
    await page.close();
  }, 60_000);

  it('shows server errors at their fields and jumps to them', async () => {
    const { server, bringIn } = await serveCharacters();
    await bringIn(mara);
    const page = await openPage(server.url, 'old-mara');
    await page.fill('#card [name="mbti"]', 'quiet');
    await page.click('[role=tab]:text-is("Lorebook")');
    await page.locator(`${sheet} summary`).nth(2).click();
    await page.locator(`${sheet} [name="keys"]`).fill('lamp(?!s)');
    await page.click('#save');
    await page.locator('#problems >> text=2 errors').waitFor();
    await keep(page, 'editor-problems');
    const field = page.locator('#card .field:has([name="mbti"])');
    expect(await field.locator('.problem').innerText()).toBe('This must be four letters, such as INTP.');
    expect(await field.locator('input').getAttribute('aria-invalid')).toBe('true');
    await page.click('#problems >> text=Entry 3: Keys');
    const keys = page.locator(`${sheet} .field:has([name="keys"])`);
    expect(await keys.locator('.problem').innerText()).toContain('lookarounds');
    await page.locator(`${sheet} [name="keys"]`).fill('lamps?');
    expect(await keys.locator('.problem').count()).toBe(0);
    await page.click('#problems >> text=MBTI');
    await page.keyboard.press('Control+A');
    await page.keyboard.type('ISTJ');
    await page.keyboard.press('Control+S');
    await page.locator('#notice >> text=Saved').waitFor();
    await page.close();
  }, 60_000);

  it('resolves concurrent edits in two tabs with a copy', async () => {
    const { server, bringIn, read, ask } = await serveCharacters();
    await bringIn(mara);
    const [one, two] = [await openPage(server.url, 'old-mara'), await openPage(server.url, 'old-mara')];
    await one.fill('#card [name="tagline"]', 'one');
    await save(one);
    await two.fill('#card [name="tagline"]', 'two');
    await two.click('#save');
    await two.locator('#question >> text=Someone else saved first').waitFor();
    await keep(two, 'editor-conflict');
    await two.click('#question >> text=Save mine as a copy');
    await two.locator('#notice >> text=Copied').waitFor();
    expect((await read('old-mara')).card.tagline).toBe('one');
    expect((await read('old-mara-2')).card.tagline).toBe('two');

    await one.fill('#card [name="tagline"]', 'kept');
    await ask('/characters/old-mara', { method: 'DELETE' });
    await one.click('#save');
    await one.click('#question >> text=Create it again');
    await one.locator('#notice >> text=Copied').waitFor();
    expect((await read('old-mara')).card.tagline).toBe('kept');
    await Promise.all([one.close(), two.close()]);
  }, 60_000);

  it('creates, copies, finds, exports and deletes characters and asks before anything is lost', async () => {
    const { server, read } = await serveCharacters();
    const page = await openPage(server.url);
    await page.click('#list >> text=Sherlock Holmes');
    await page.locator('#card [name="tagline"]').waitFor();
    expect(await page.locator('#save').isVisible()).toBe(false);
    expect(await page.locator('#delete').isVisible()).toBe(false);
    expect(await page.locator('#card [name="tagline"]').isEditable()).toBe(false);
    await page.click('#copy');
    await page.fill('#question [name="name"]', 'Sherlock II');
    await page.click('#question button:text-is("Copy")');
    await page.locator('#notice >> text=Copied').waitFor();
    expect((await read('sherlock-ii')).lines.length).toBeGreaterThan(80);

    await page.click('#new');
    await page.fill('#question [name="name"]', '守灯人');
    await page.fill('#question [name="description"]', '她守着海边的灯塔，今年六十岁。');
    await page.click('#question >> text=Create');
    await page.locator('#notice >> text=Created').waitFor();
    expect(await page.locator('#name').innerText()).toBe('守灯人');
    await page.fill('#card [name="tagline"]', 'not saved');
    await page.fill('#search', 'sherlock');
    expect(await page.locator('#list button').count()).toBe(2);
    await page.click('#list >> text=Sherlock II');
    await page.locator('#question >> text=are not saved').waitFor();
    await page.keyboard.press('Escape');
    expect(await page.locator('#card [name="tagline"]').inputValue()).toBe('not saved');
    const unloading = page.waitForEvent('dialog');
    const gone = page.evaluate(() => location.reload());
    expect((await unloading).type()).toBe('beforeunload');
    await (await unloading).dismiss();
    await gone;
    await page.click('#list >> text=Sherlock II');
    await page.click('#question >> text=Discard');
    await page.locator('#name:text-is("Sherlock II")').waitFor();

    await page.click('#export summary');
    const download = page.waitForEvent('download');
    await page.click('#export >> text=CHARX');
    expect((await download).suggestedFilename()).toBe('sherlock-ii.charx');
    await page.click('#delete');
    await page.click('#question button:text-is("Delete")');
    await page.locator('#notice >> text=was deleted').waitFor();
    expect(await page.locator('#list button').count()).toBe(1);
    await page.close();
  }, 60_000);

  it('imports a card that is dropped on the page', async () => {
    const { server, read } = await serveCharacters();
    const page = await openPage(server.url);
    const png = writeCardBytes({ card: readCard(JSON.parse(mara), 'mara'), files: new Map() }, 'png', 'v3');
    const data = await page.evaluateHandle((base64) => {
      const transfer = new DataTransfer();
      const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
      transfer.items.add(new File([bytes], 'mara.png', { type: 'image/png' }));
      return transfer;
    }, Buffer.from(png).toString('base64'));
    await page.dispatchEvent('body', 'dragover', { dataTransfer: data });
    expect(await page.locator('#drop').isVisible()).toBe(true);
    await page.dispatchEvent('body', 'drop', { dataTransfer: data });
    await page.locator('#notice >> text=Imported').waitFor();
    expect(await page.locator('#drop').isVisible()).toBe(false);
    await page.locator('#portrait img').waitFor();
    expect((await read('old-mara')).editable).toBe(true);
    const shown = await page.locator('#portrait img').evaluate((image: HTMLImageElement) => image.naturalHeight);
    expect(shown).toBe(600);
    const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"><script>owned=1</script></svg>';
    await page.setInputFiles('#picture', { name: 'a.svg', mimeType: 'image/svg+xml', buffer: Buffer.from(svg) });
    await page.locator('#notice >> text=a.svg is not a picture').waitFor();
    const buffer = await page.locator('#portrait').screenshot();
    await page.setInputFiles('#picture', { name: 'b.png', mimeType: 'image/png', buffer });
    await page.waitForFunction(() => document.querySelector<HTMLImageElement>('#portrait img')?.naturalHeight !== 600);
    // The list shows the new picture too.
    const listed = '#list button[aria-pressed="true"] img';
    await page.waitForFunction((place) => {
      const image = document.querySelector<HTMLImageElement>(place);
      return image !== null && image.naturalHeight !== 600;
    }, listed);
    await keep(page, 'editor-picture');
    await page.dispatchEvent('body', 'drop', { dataTransfer: data });
    await page.click('#question >> text=Import as another');
    await page.locator('#list button').nth(9).waitFor();
    expect((await read('old-mara-2')).editable).toBe(true);
    await page.close();
  }, 60_000);
});

const clipOfMara = {
  version: 1 as const,
  id: 'mara',
  language: 'en',
  licence: 'CC0',
  consent: { note: 'Mara herself, by letter', recordedAt: '2026-01-01T00:00:00.000Z' },
  reference: {
    file: 'clips/a.wav',
    sha256: 'a'.repeat(64),
    startMs: 0,
    endMs: 4_000,
    transcript: 'Mind the tide.',
    transcribedBy: 'text file',
    measured: { seconds: 4, snrDb: 30, pitch: null, speakingRate: null, quality: null, embedding: null },
    source: 'a.wav',
    choice: { by: 'snr' as const, score: 30, clips: 1 },
  },
};
