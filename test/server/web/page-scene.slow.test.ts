import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keep, servePages } from '../../rigs/page-rig.ts';
import { hasBrowser } from '../../fakes/network/browser.ts';

const folder = await mkdtemp(path.join(tmpdir(), 'dramatis-page-scene-'));

const short = {
  title: 'A short quarrel',
  tagline: 'Two lines',
  circumstance: 'A room.',
  characters: [
    { id: 'alice', motivation: 'To be right.' },
    { id: 'd-artagnan', motivation: 'To be right, too.' },
  ],
  user: { name: 'The judge', profile: 'Has to decide.' },
  script: [
    { speaker: 'alice', text: '[angry] You are a liar and a fool, d’Artagnan, and a coward!' },
    { speaker: 'd-artagnan', text: '[angry] Never.' },
  ],
};

describe.skipIf(!hasBrowser('a scene in the page'))('scene on the page', () => {
  beforeAll(async () => {
    await mkdir(path.join(folder, 'scenes'), { recursive: true });
    await writeFile(path.join(folder, 'scenes', 'short.json'), JSON.stringify(short));
  });
  const pages = servePages({ asks: 'once', flags: { charactersDir: folder } });
  afterAll(() => rm(folder, { recursive: true }));

  const hintOf = (page: Page) => page.locator('#talk-hint').textContent();

  it('plays a scene turn by turn with speaker, actions and thoughts and without interruption', async () => {
    const page = await pages.browser.newPage({ viewport: { width: 1280, height: 900 } });
    await page.goto(pages.server.url);
    await page.click('#characters >> text=Supper on the Nautilus');
    await keep(page, 'scene-prologue');
    await page.check('#thoughts');
    await page.click('#talk');
    const spoken = page.locator('#transcript li[data-speaker][data-status="done"]');
    await spoken.nth(2).waitFor({ timeout: 90_000 });
    await page.locator('#participants [data-speaks="true"] >> text=d\'Artagnan').waitFor({ timeout: 20_000 });
    expect(await hintOf(page)).toBe('you listen · tap to pause');
    expect(await page.locator('#talk-status').textContent()).toMatch(/artagnan/i);
    await keep(page, 'scene');
    await spoken.nth(3).waitFor({ timeout: 30_000 });
    const who = await spoken.evaluateAll((rows) => rows.map((row) => row.getAttribute('data-speaker')));
    expect(who.slice(0, 4)).toEqual(['environment', 'captain-nemo', 'queen-elizabeth-i', 'd-artagnan']);
    expect(await spoken.nth(3).locator('.who').textContent()).toMatch(/artagnan/i);
    expect(await spoken.nth(1).innerText()).toContain('fills the glasses');
    expect(await spoken.nth(2).locator('.thought').textContent()).toContain('gaoler');
    expect(await spoken.nth(2).locator('.words').textContent()).not.toContain('gaoler');
    expect(await page.locator('#transcript li[data-status="interrupted"]').count()).toBe(0);
    expect(await page.locator('#say').isVisible()).toBe(false);
    await page.click('#talk');
    await page.locator('#talk-hint >> text=tap to continue').waitFor();
    await page.click('#talk');
    await page.locator('#transcript li[data-speaker][data-status="partial"]').waitFor({ timeout: 20_000 });
    await page.close();
  }, 150_000);

  it('shows the user their part in a scene on a phone and hides thoughts', async () => {
    const page = await pages.browser.newPage({ viewport: { width: 390, height: 780 }, colorScheme: 'dark' });
    await page.goto(pages.server.url);
    await page.click('#characters >> text=The Locked Garden');
    expect(await page.locator('#instructions').textContent()).toContain('You are The host.');
    await page.click('#talk');
    const spoken = page.locator('#transcript li[data-speaker][data-status="done"]');
    await spoken.nth(1).waitFor({ timeout: 90_000 });
    await keep(page, 'scene-phone');
    expect(await page.locator('.thought').count()).toBe(0);
    expect(await page.locator('#say').isVisible()).toBe(true);
    await page.close();
  }, 120_000);

  it('shows everyone’s feelings at the end of a scene and plays it again', async () => {
    const page = await pages.browser.newPage({ viewport: { width: 1280, height: 800 } });
    await page.goto(pages.server.url);
    await page.click('#characters >> text=A short quarrel');
    // Without a microphone, so that nobody answers.
    await page.evaluate('navigator.mediaDevices.getUserMedia = () => Promise.reject(new Error("none"))');
    await page.click('#talk');
    await page.locator('.scene-end').waitFor({ timeout: 60_000 });
    await page.locator('#talk-status >> text=The end').waitFor({ timeout: 20_000 });
    await keep(page, 'scene-end');
    const moods = await page.locator('#participants li').allInnerTexts();
    expect(moods.find((text) => text.includes('Artagnan'))).toMatch(/anger\s[3-9] of 10/);
    expect(await page.locator('#stop').isVisible()).toBe(false);
    await page.click('#talk');
    await page.locator('.scene-end').waitFor({ state: 'detached' });
    await page.locator('#stop >> text=Stop').click({ timeout: 30_000 });
    await page.locator('#stop >> text=Continue').click({ timeout: 30_000 });
    await page.locator('.scene-end').waitFor({ timeout: 60_000 });
    await page.close();
  }, 150_000);
});
