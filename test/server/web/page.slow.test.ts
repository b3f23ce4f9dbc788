import path from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../server/config/config.ts';
import { startServer, type RunningServer } from '../../../server/app/serve.ts';
import { writeSmallCampplus } from '../../fakes/models/small-models.ts';
import { keep, servePages } from '../../rigs/page-rig.ts';
import { hasBrowser, type TestBrowser } from '../../fakes/network/browser.ts';

describe.skipIf(!hasBrowser('the page'))('page', () => {
  const pages = servePages({ asks: 'once' });

  it('holds a spoken turn on the page and shows transcript, answer and latency', async () => {
    const page = await openPage(pages.browser, pages.server, { width: 1280, height: 800 });
    const sent: string[] = [];
    page.on('websocket', (socket) => socket.on('framesent', ({ payload }) => sent.push(String(payload))));
    await keep(page, 'picker');
    await page.click('#characters >> text=Sherlock Holmes');
    await page.click('#talk');
    const heard = page.locator('#transcript li[data-role="user"][data-status="done"]').first();
    await heard.waitFor({ timeout: 60_000 });
    expect((await heard.innerText()).toLowerCase()).toContain('best friend');
    const answer = page
      .locator('#transcript li[data-role="user"] ~ li[data-role="character"][data-status="done"]')
      .first();
    await answer.waitFor({ timeout: 60_000 });
    await keep(page, 'conversation');
    expect(await answer.innerText()).toContain('Watson');
    expect(sent.find((frame) => frame.includes('"session.update"'))).toContain('"idle_timeout_ms":30000');
    const ledger = await answer.locator('[data-latency]').first().getAttribute('data-latency');
    const latency = JSON.parse(ledger ?? '{}') as Record<string, unknown>;
    expect(latency['basis']).toBe('speech_end');
    for (const stage of ['endpoint_ms', 'transcript_ms', 'first_token_ms', 'first_phrase_ms', 'first_audio_ms']) {
      expect({ [stage]: typeof latency[stage] }).toEqual({ [stage]: 'number' });
    }
    const shares = Object.values(latency['owners'] as Record<string, number | null>);
    expect(shares.reduce<number>((sum, share) => sum + (share ?? 0), 0)).toBeCloseTo(Number(latency['total_ms']), 3);
    expect(latency['total_ms']).toBe(latency['heard_ms']);
    await page.close();
  }, 120_000);

  it('answers a typed message on a phone-sized page without asking for the microphone', async () => {
    const page = await openPage(pages.browser, pages.server, { width: 390, height: 844 });
    const invitations = page.locator('#cast-openings small:visible');
    expect(await invitations.allTextContents()).toEqual(['Ask Sherlock Holmes', 'Ask Alice', 'Ask Captain Nemo']);
    await page.click('#characters >> text=Alice');
    await page.fill('#text', 'What is your name?');
    await page.click('#send');
    const answer = page.locator('#transcript li[data-role="character"][data-status="done"]').first();
    await answer.waitFor({ timeout: 60_000 });
    await keep(page, 'phone');
    expect(await answer.innerText()).toMatch(/Alice/);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(overflow).toBeLessThanOrEqual(0);
    await page.close();
  }, 120_000);

  it('shows the voice similarity of each reply', async () => {
    // An untrained encoder finds all voices alike, which is enough for the meter.
    const { modelPath: speakerEncoder } = await writeSmallCampplus(path.join(pages.folder, 'campplus.onnx'));
    const flags = { port: '0', logLevel: 'error', speakerEncoder };
    await using watched = closing(await startServer(readConfig({ flags, environment: {} })));
    const page = await openPage(pages.browser, watched, { width: 1280, height: 800 });
    await page.click('#characters >> text=Captain Nemo');
    for (const text of ['Tell me about the sea.', 'Where did you find such a ship?']) {
      await page.fill('#text', text);
      await page.click('#send');
      const replies = page.locator('#transcript li[data-role="character"][data-status="done"]');
      const before = await replies.count();
      await replies.nth(before).waitFor({ timeout: 60_000 });
    }
    const voice = page.locator('#transcript .waterfall .voice').last();
    await voice.waitFor({ timeout: 30_000 });
    await keep(page, 'voice');
    expect(await voice.innerText()).toMatch(/^Voice similarity [01]\.\d\d$/);
    expect(Number(await voice.locator('meter').getAttribute('value'))).toBeGreaterThan(0.5);
    await page.close();
  }, 120_000);

  it('explains what to do if the microphone is denied', async () => {
    const page = await pages.browser.newPage({ permissions: [] });
    await page.addInitScript(() => {
      navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('denied', 'NotAllowedError'));
    });
    await page.goto(pages.server.url);
    await page.click('#characters >> text=Alice');
    await page.click('#talk');
    await page.locator('#message:has-text("microphone")').waitFor({ timeout: 30_000 });
    await keep(page, 'denied');
    await expect(page.locator('#message').innerText()).resolves.toMatch(/allow/i);
    await page.close();
  }, 60_000);
});

function closing(server: RunningServer): RunningServer & AsyncDisposable {
  return { ...server, [Symbol.asyncDispose]: () => server.close() };
}

async function openPage(
  browser: TestBrowser,
  server: RunningServer,
  viewport: { width: number; height: number },
): Promise<Page> {
  const page = await browser.newPage({ viewport });
  await page.goto(server.url);
  await page.locator('#characters >> text=Sherlock Holmes').first().waitFor();
  return page;
}
