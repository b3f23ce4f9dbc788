import { truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { zipSync } from 'fflate';
import type { Page } from 'playwright-core';
import { beforeEach, describe, expect, it } from 'vitest';
import { blankPng } from '../../../characters/tavern/png.ts';
import { cards } from '../../characters/tavern-cards.ts';
import { servePages } from '../../rigs/page-rig.ts';
import { hasBrowser } from '../../fakes/network/browser.ts';

/** Runs if any text of a card is taken for markup. */
const attack = `"><script>window.owned=1</script><img src=x onerror="window.owned=1"><svg onload=window.owned=1>{{char}}`;
const script = 'javascript:window.owned=1';

/** The same card with the attack in every text of it. */
function armed(value: unknown, key = ''): unknown {
  if (['spec', 'spec_version', 'role'].includes(key)) return value;
  if (typeof value === 'string') return key === 'uri' ? script : `${value} ${attack}`;
  if (Array.isArray(value)) return value.map((each) => armed(each));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, armed(each, name)]));
}

const { data } = cards['V3, every field'] as { data: Record<string, unknown> };
const plain = { ...data, nickname: '', character_book: undefined };
const card = (changes: object): Buffer =>
  Buffer.from(JSON.stringify({ spec: 'chara_card_v3', spec_version: '3.0', data: { ...plain, ...changes } }));
const entry = (keys: string[], content: string, more: object = {}) => ({
  keys,
  content,
  extensions: {},
  enabled: true,
  insertion_order: 1,
  ...more,
});
const book = (entries: object[]) => ({ extensions: {}, recursive_scanning: true, scan_depth: 1_000, entries });

describe.skipIf(!hasBrowser('hostile cards in the page'))('hostile card in the page', () => {
  const pages = servePages({});
  let page: Page;
  beforeEach(async () => {
    page = await pages.browser.newPage({ viewport: { width: 1440, height: 900 } });
    page.setDefaultTimeout(30_000);
    await page.goto(`${pages.server.url}/characters.html`);
    await page.locator('#list button').first().waitFor();
  });

  async function bringIn(name: string, buffer: Buffer): Promise<string> {
    await page.setInputFiles('#upload', { name, mimeType: 'application/octet-stream', buffer });
    const told = page.locator('#notice:not(:empty):not(:has-text("Importing"))');
    await told.waitFor();
    return told.innerText();
  }

  async function answer(text: string): Promise<string> {
    await page.fill('#text', text);
    await page.click('#send');
    const reply = page.locator('#transcript li[data-role="character"][data-status="done"]').last();
    await reply.waitFor({ timeout: 60_000 });
    return reply.innerText();
  }

  it('runs no script of a card with script tags in every field in the form, list, dialogs and conversation', async () => {
    const text = JSON.stringify(armed(cards['V3, every field']));
    expect(await bringIn('<img src=x onerror=window.owned=1>.json', Buffer.from(text))).toContain('Imported');
    expect(await page.locator('#name').innerText()).toContain('<script>');
    for (const tab of await page.locator('[role="tab"]').all()) {
      await tab.click();
      for (const summary of await page.locator('[role="tabpanel"]:not([hidden]) summary').all()) await summary.click();
    }
    await page.click('#copy');
    expect(await page.locator('#question').innerText()).toContain('<script>');
    await page.keyboard.press('Escape');
    expect(await answer('Are you not lonely?')).not.toBe('');
    expect(await page.evaluate('window.owned')).toBeUndefined();
    await page.goto(`${pages.server.url}/${new URL(page.url()).hash}`);
    await page.locator('#name:has-text("<script>")').waitFor();
    expect(await page.evaluate('window.owned')).toBeUndefined();
    await page.close();
  }, 120_000);

  it('blocks an injected script by the content security policy', async () => {
    const blocked = page.evaluate(
      () =>
        new Promise((resolve) =>
          addEventListener('securitypolicyviolation', (event) => resolve(event.violatedDirective)),
        ),
    );
    await page.evaluate(() => {
      const made = document.createElement('div');
      made.innerHTML = '<img src=x onerror="window.owned=1">';
      document.body.append(made);
    });
    expect(await blocked).toBe('script-src-attr');
    expect(await page.evaluate('window.owned')).toBeUndefined();
    await page.close();
  }, 60_000);

  it.each([
    [
      'bomb.charx',
      Buffer.from(zipSync({ 'card.json': [new Uint8Array(9 * 2 ** 20), { level: 9 }] })),
      /exceeds the limit/,
    ],
    ['deep.json', Buffer.from(`${'{"a":'.repeat(1_000)}1${'}'.repeat(1_000)}`), /nested deeper/],
    ['holiday.png', Buffer.from(blankPng('x')), /contains no card/],
    ['cut.png', Buffer.from(blankPng('x').subarray(0, 300)), /truncated/],
    ['text.json', Buffer.from('no card'), /not valid JSON/],
    ['long.json', card({ description: 'a'.repeat(1_000_000) }), /description/],
  ])(
    'reports a clear message that names the file %s and changes nothing',
    async (name, bytes, message) => {
      const before = await page.locator('#list button').count();
      const told = await bringIn(name, bytes);
      expect(told).toMatch(message);
      expect(told).toContain(name);
      expect(await page.locator('#list button').count()).toBe(before);
      await page.close();
    },
    60_000,
  );

  it('does not upload a PNG of 50 MB', async () => {
    const file = path.join(pages.folder, 'huge.png');
    await writeFile(file, blankPng('x'));
    await truncate(file, 50 * 2 ** 20);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.method()));
    await page.setInputFiles('#upload', file);
    await page.locator('#notice >> text=huge.png has 50 MB; the limit is 25 MB').waitFor();
    expect(asked).toEqual([]);
    await page.close();
  }, 60_000);

  it('answers at normal speed with a recursive lorebook and catastrophic patterns', async () => {
    const ring = Array.from({ length: 200 }, (_, index) =>
      entry([`word${index}`], `word${(index + 1) % 200} word${index} `.repeat(20), { constant: index === 0 }),
    );
    const bombs = [
      entry(['(a+)+$', '/^(([a-z])+.)+[A-Z]([a-z])+$/'], 'Matched.', { use_regex: true }),
      entry(['(?=a)b'], 'Never.', { use_regex: true }),
    ];
    const told = await bringIn('ring.json', card({ name: 'Ring', character_book: book([...ring, ...bombs]) }));
    expect(told).toMatch(/Imported[^]*lookarounds/);
    await page.click('[role=tab]:text-is("Lorebook")');
    expect(await page.locator('.rows h3').filter({ hasText: 'Entries' }).innerText()).toBe('Entries (201)');
    expect(await answer(`word0 ${'a'.repeat(1_500)}! Who built the tower?`)).toMatch(/grandmother/i);
    await page.close();
  }, 120_000);
});
