import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { startServer } from '../server/app/serve.ts';
import { readConfig } from '../server/config/config.ts';
import { openSample, recordClip, serveSample, writeClip } from './client/games/avatar-clip.ts';
import { openBrowser } from './fakes/network/browser.ts';

/**
 * Pictures of the page, taken in Chromium. `npm run pictures` writes the README's; `npm run pictures -- FOLDER` writes
 * every view in every size and theme into the folder, to be looked at; `-- FOLDER portrait` in one of them; `-- FOLDER
 * avatar` the frames of a clip of the web avatar.
 */

const shapes = [
  { name: 'light', viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
  { name: 'dark', viewport: { width: 1280, height: 800 }, colorScheme: 'dark' },
  { name: 'portrait', viewport: { width: 390, height: 844 }, colorScheme: 'light' },
  { name: 'landscape', viewport: { width: 844, height: 390 }, colorScheme: 'dark' },
] as const;

const [folder, ...wanted] = process.argv.slice(2);
const sample = await serveSample();
const dataDir = await mkdtemp(path.join(tmpdir(), 'dramatis-pictures-'));
const server = await startServer(
  readConfig({
    flags: { port: '0', logLevel: 'error', dataDir, memory: true, allowedOrigins: sample.url },
    environment: {},
  }),
);
const browser = await openBrowser(undefined, ['--enable-unsafe-swiftshader']);
try {
  if (folder === undefined) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' });
    await talk(page);
    await page.locator('#text').blur();
    await page.screenshot({ path: path.resolve(import.meta.dirname, '../page.png') });
  } else if (wanted.includes('avatar')) {
    const page = await browser.newPage();
    await openSample(page, sample, server.url);
    await writeClip(await recordClip(page), folder);
  } else {
    await mkdir(folder, { recursive: true });
    const taken = shapes.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
    for (const { name, ...shape } of taken) {
      const page = await browser.newPage({ ...shape, reducedMotion: 'reduce' });
      page.setDefaultTimeout(120_000);
      const keep = (view: string) => page.screenshot({ path: path.join(folder, `${view}-${name}.png`) });
      await views(page, keep);
      await page.close();
    }
  }
} finally {
  await browser.close();
  sample.close();
  await server.close();
  await rm(dataDir, { recursive: true, force: true });
}

/** Asks Sherlock Holmes one question, and waits for his answer. */
async function talk(page: Page): Promise<void> {
  await page.goto(`${server.url}/#sherlock-holmes`);
  await page.locator('#characters .card').first().waitFor({ state: 'attached' });
  await page.fill('#text', 'Do you play the violin?');
  await page.press('#text', 'Enter');
  await page.locator('#transcript li[data-role="character"][data-status="done"]').waitFor();
}

/** Shows each view in turn, to be kept. */
async function views(page: Page, keep: (view: string) => Promise<unknown>): Promise<void> {
  await page.goto(server.url);
  await page.locator('.suggestion button').first().waitFor({ state: 'attached' });
  await page.locator('#llm-open:not([hidden])').waitFor();
  await keep('start');
  await talk(page);
  await page.locator('#transcript summary').first().click();
  await keep('talk');
  await page.click('#settings-open');
  await page.locator('#models:not([hidden])').waitFor();
  await keep('settings');
  await page.keyboard.press('Escape');
  await page.click('#llm-open');
  await page.locator('#llm-status:has-text(".")').waitFor();
  await keep('llm');
  await page.goto(`${server.url}/#scene:the-locked-garden`);
  await page.reload();
  await page.locator('#participants li').first().waitFor();
  await keep('scene');
  await page.goto(`${server.url}/characters.html#alice`);
  await page.locator('[role="tab"]').last().waitFor();
  await keep('editor');
}
