import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { startServer, type RunningServer } from '../../server/app/serve.ts';
import { readConfig } from '../../server/config/config.ts';
import { openBrowser, openBrowserThatAsks, type TestBrowser } from '../fakes/network/browser.ts';

/** Folder for screenshots; none are taken unless it is set. */
const screenshots = process.env['DRAMATIS_SCREENSHOTS'];

/** Takes a screenshot if they are wanted. */
export async function keep(page: Page, name: string): Promise<void> {
  if (screenshots !== undefined) await page.screenshot({ path: path.join(screenshots, `${name}.png`) });
}

/**
 * A server on the real engines and a browser for the tests of one file, closed after them. `asks`: the browser's
 * microphone plays a recorded question, once or again and again.
 */
export function servePages({
  asks,
  flags = {},
}: {
  asks?: 'once' | 'again';
  flags?: Record<string, string | boolean>;
}) {
  const pages = {} as { folder: string; server: RunningServer; browser: TestBrowser };
  beforeAll(async () => {
    pages.folder = await mkdtemp(path.join(tmpdir(), 'dramatis-pages-'));
    const all = { port: '0', logLevel: 'error', dataDir: pages.folder, ...flags };
    pages.server = await startServer(readConfig({ flags: all, environment: {} }));
    pages.browser = await (asks === undefined
      ? openBrowser()
      : openBrowserThatAsks(pages.server, { again: asks === 'again' }));
  }, 60_000);
  afterAll(async () => {
    await pages.server?.close();
    await pages.browser?.close();
    await rm(pages.folder, { recursive: true, force: true });
  });
  return pages;
}
