import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../../fakes/network/browser.ts';
import { openChatServer, says } from '../../fakes/servers/chat-server.ts';
import { keep, servePages } from '../../rigs/page-rig.ts';

const wide = { width: 1280, height: 800 };
const replies = '#transcript li[data-role="character"][data-status="done"]';

describe.skipIf(!hasBrowser('the first minutes on the page'))('first minutes on the page', () => {
  const pages = servePages({ flags: { store: true } });

  async function open(options: Parameters<typeof pages.browser.newPage>[0] = {}, hash = ''): Promise<Page> {
    const page = await pages.browser.newPage({ viewport: wide, ...options });
    page.setDefaultTimeout(60_000);
    await page.goto(`${pages.server.url}/${hash}`);
    await page.locator('#characters .card').first().waitFor();
    return page;
  }

  it('leads from the empty page to a connected LLM and its spoken reply', async () => {
    await using chat = await openChatServer(says(['Brass, sir, and every bolt of it polished.']));
    const page = await open();
    expect(await page.locator('#characters .name').first().textContent()).toBe('Sherlock Holmes');
    expect(await page.locator('#openings .suggestion small').allTextContents()).toEqual([
      'Ask Sherlock Holmes',
      'Ask Alice',
      'Ask Captain Nemo',
    ]);
    expect(await page.locator('#llm-open').textContent()).toBe('Scripted replies · connect an LLM');
    await page.click('#llm-open');
    await page.fill('#llm-url', chat.baseUrl);
    await page.fill('#llm-model', 'in-test');
    await page.click('#llm-test');
    await page.locator('#llm-status:has-text("polished")').waitFor();
    await page.click('#llm-connect');
    await page.locator('#llm-status:has-text("Connected")').waitFor();
    await keep(page, 'llm-connected');
    await page.click('#llm-close');
    expect(await page.locator('#llm-open').textContent()).toBe('in-test at localhost');
    await page.locator('#openings .suggestion button').last().click();
    await page.locator('html[data-state="speaking"]').waitFor();
    await page.waitForFunction(
      () => Number(document.documentElement.style.getPropertyValue('--voice')) > 0.3,
      undefined,
      { polling: 'raf' },
    );
    await page.locator(replies).waitFor();
    expect(await page.locator(`${replies} .words`).textContent()).toContain('every bolt of it polished');
    expect(chat.requests.at(-1)?.body['model']).toBe('in-test');
    await page.click('#llm-open');
    await page.click('#llm-disconnect');
    await page.locator('#llm-open[data-scripted="true"]').waitFor();
    await page.close();
  }, 120_000);

  it('restores the conversation after a reload, continues it, and saves it', async () => {
    const page = await open({ acceptDownloads: true }, '#alice');
    await page.locator('#openings .suggestion button').first().click();
    await page.locator(replies).waitFor();
    const said = await page.locator(`${replies} .words`).textContent();
    await page.reload();
    await page.locator(replies).waitFor();
    expect(await page.locator(`${replies} .words`).textContent()).toBe(said);
    expect(await page.locator('#intro').isVisible()).toBe(false);
    const sent: string[] = [];
    page.on('websocket', (socket) => socket.on('framesent', ({ payload }) => sent.push(String(payload))));
    await page.fill('#text', 'Who are you?');
    await page.press('#text', 'Enter');
    await page.locator(replies).nth(1).waitFor();
    expect(await page.locator('#transcript li').count()).toBe(4);
    // The session continues: nothing of the conversation has to be told again.
    expect(sent.filter((frame) => frame.includes('conversation.item.create'))).toHaveLength(1);
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('text=Save JSON')]);
    const saved = JSON.parse(await readFile(await download.path(), 'utf8')) as Record<string, any>;
    expect(saved['character']).toEqual({ id: 'alice', name: 'Alice' });
    expect(saved['utterances']).toHaveLength(4);
    expect(saved['utterances'][1]).toMatchObject({ role: 'character', who: 'Alice', text: said, status: 'done' });
    const [text] = await Promise.all([page.waitForEvent('download'), page.click('text=Save text')]);
    expect(await readFile(await text.path(), 'utf8')).toMatch(/^You: What happened at the tea party\?\n\nAlice: /);
    await page.close();
  }, 120_000);

  it('edits and resends the last message, and asks an LLM for another reply', async () => {
    const answers = ['The first answer.', 'The second answer.', 'The third answer.'];
    await using chat = await openChatServer(...answers.map((answer) => says([answer])));
    await pages.server.engines.connectLlm?.({ url: chat.baseUrl, model: 'in-test' });
    const page = await open({}, '#captain-nemo');
    const words = () => page.locator('#transcript li .words').allTextContents();
    await page.fill('#text', 'Where do you sail?');
    await page.press('#text', 'Enter');
    await page.locator(`${replies}:has-text("first")`).waitFor();
    await page.click('#transcript-actions >> text=Regenerate');
    await page.locator(`${replies}:has-text("second")`).waitFor();
    expect(await words()).toEqual(['Where do you sail?', 'The second answer.']);
    await page.click('#transcript-actions >> text=Edit');
    expect(await page.inputValue('#text')).toBe('Where do you sail?');
    expect(await page.locator('#send').textContent()).toBe('Resend');
    await page.fill('#text', 'Why do you sail?');
    await page.press('#text', 'Enter');
    await page.locator(`${replies}:has-text("third")`).waitFor();
    expect(await words()).toEqual(['Why do you sail?', 'The third answer.']);
    // The model is told nothing of what was taken back.
    const told = JSON.stringify(chat.requests.at(-1)?.body['messages']);
    expect(told).toContain('Why do you sail?');
    for (const gone of ['Where do you sail?', 'first answer', 'second answer']) expect(told).not.toContain(gone);
    await pages.server.engines.connectLlm?.(undefined);
    await page.close();
  }, 120_000);

  it('says in which language a character of another language hears, and names scripted replies to users without rights', async () => {
    const page = await open({}, '#sun-wukong');
    expect(await page.locator('#instructions').textContent()).toContain('Hears English only; type in other languages.');
    expect(await page.locator('#name').textContent()).toBe('孙悟空 Sun Wukong');
    await page.route('**/llm', (route) => route.fulfill({ status: 403, json: { error: { message: 'no' } } }));
    await page.reload();
    await page.locator('#llm-line:has-text("Scripted replies")').waitFor();
    expect(await page.locator('#llm-open').isVisible()).toBe(false);
    await page.close();
  }, 60_000);

  it('shows a failed recognition as a notice and leaves no bubble of the user', async () => {
    const page = await pages.browser.newPage({ viewport: wide });
    await page.routeWebSocket(/v1\/realtime/, (socket) => {
      const server = socket.connectToServer();
      server.onMessage((message) => {
        socket.send(message);
        if (!String(message).includes('"response.done"')) return;
        const type = 'conversation.item.input_audio_transcription.failed';
        const error = { type: 'recognition_error', code: 'low_confidence', message: 'not understood' };
        socket.send(JSON.stringify({ type, item_id: 'item_1', content_index: 0, error }));
      });
    });
    await page.goto(`${pages.server.url}/#alice`);
    await page.fill('#text', 'Good evening.');
    await page.press('#text', 'Enter');
    await page.locator(replies).waitFor({ timeout: 60_000 });
    await page.locator('#message:has-text("Not understood")').waitFor();
    expect(await page.locator('#transcript li').count()).toBe(2);
    expect(await page.locator('#transcript').innerText()).not.toContain('Not understood');
    await page.close();
  }, 120_000);

  it('shows a notice if the conversation cannot be stored, and the conversation continues', async () => {
    await rm(path.join(pages.folder, 'sessions'), { recursive: true, force: true });
    await writeFile(path.join(pages.folder, 'sessions'), 'a file in the place of the folder');
    const page = await open({}, '#alice');
    for (const text of ['Good evening.', 'What is your name?']) {
      await page.fill('#text', text);
      await page.press('#text', 'Enter');
      await page.locator(replies).last().waitFor();
    }
    await page.locator('#message:has-text("(session_not_stored)")').waitFor();
    await expect.poll(() => page.locator(replies).count(), { timeout: 30_000 }).toBe(2);
    await page.close();
  }, 60_000);

  it('draws each of our characters in at most 6 kB, and moves the mouth with the voice unless motion is reduced', async () => {
    const sizes = async (page: Page) =>
      page.locator('#characters .card .face').evaluateAll((faces) => faces.map((face) => face.outerHTML.length));
    const mouth = async (page: Page) =>
      page.locator('#portrait .open').evaluate((open) => {
        document.documentElement.style.setProperty('--voice', '0.8');
        for (const animation of open.getAnimations()) animation.finish();
        const { visibility, transform } = getComputedStyle(open);
        return { visibility, height: new DOMMatrix(transform).d };
      });
    const animated = async (page: Page) => page.evaluate(() => document.getAnimations().length);
    const page = await open({}, '#captain-nemo');
    expect(await sizes(page)).toHaveLength(8);
    for (const size of await sizes(page)) expect(size).toBeLessThanOrEqual(6_000);
    expect(await animated(page)).toBeGreaterThan(2);
    const open1 = await mouth(page);
    expect(open1.visibility).toBe('visible');
    expect(open1.height).toBeGreaterThan(0.7);
    await page.close();
    const still = await open({ reducedMotion: 'reduce' }, '#captain-nemo');
    expect(await animated(still)).toBe(0);
    expect((await mouth(still)).visibility).toBe('hidden');
    await still.close();
  }, 60_000);
});
