import { describe, expect, it } from 'vitest';
import { memoryFile, MemoryStore } from '../../../server/memory/store/store.ts';
import { keep, servePages } from '../../rigs/page-rig.ts';
import { hasBrowser } from '../../fakes/network/browser.ts';

describe.skipIf(!hasBrowser('the memories of the page'))('memories on the page', () => {
  const pages = servePages({ asks: 'once', flags: { memory: true } });

  it('stores memories once the user opts in and lets them read, correct, export and erase them', async () => {
    const page = await pages.browser.newPage({ viewport: { width: 1280, height: 800 } });
    const say = async (text: string): Promise<void> => {
      await page.fill('#text', text);
      await page.click('#send');
      const asked = `#transcript li[data-role="user"]:has-text("${text}")`;
      await page
        .locator(`${asked} ~ li[data-role="character"][data-status="done"]`)
        .first()
        .waitFor({ timeout: 60_000 });
    };
    await page.goto(pages.server.url);
    await page.click('#characters >> text=Alice');
    await say('My cat is called Dinah.');
    await page.click('#end');
    await page.click('#memories-open');
    // The user had not opted in.
    await page.getByText('No memories yet.').waitFor();
    await page.check('#memories-wanted');
    await page.click('#memories-close');
    await say('I live in Leeds.');
    await say('My sister is called Ann.');
    await page.click('#end');
    await page.click('#memories-open');
    const rows = page.locator('#memories-list > li');
    await rows.nth(3).waitFor();
    await keep(page, 'memories-list');
    expect(await page.locator('#memories-list').innerText()).not.toContain('Dinah');
    expect(await page.locator('#memories-list .fact .words').allInnerTexts()).toEqual([
      'My sister is called Ann.',
      'I live in Leeds.',
    ]);

    await rows.nth(0).getByText('Correct').click();
    await page.fill('#memories-list textarea', 'My sister is called Anne.');
    await keep(page, 'memories-correcting');
    await page.getByText('Save', { exact: true }).click();
    await page.locator('#memories-list .fact').getByText('My sister is called Anne.').waitFor();
    // The turn is corrected, too.
    expect(await page.locator('#memories-list .turn .asked').allInnerTexts()).toContain('My sister is called Anne.');
    // The turn is deleted with its fact.
    await rows.nth(1).getByText('Delete').click();
    await rows.nth(2).waitFor({ state: 'detached' });
    expect(await page.locator('#memories-list').innerText()).not.toContain('Leeds');
    expect(await rows.count()).toBe(2);

    await page.setViewportSize({ width: 390, height: 844 });
    await keep(page, 'memories-phone');
    const download = page.waitForEvent('download');
    await page.click('#memories-copy');
    expect((await download).suggestedFilename()).toBe('memories-alice.json');
    page.once('dialog', (dialog) => void dialog.accept());
    await page.click('#memories-erase');
    await page.getByText('No memories yet.').waitFor();
    expect(await rows.count()).toBe(0);
    await page.close();
  }, 120_000);

  it('pages through all memories, however many there are', async () => {
    const page = await pages.browser.newPage({ viewport: { width: 1280, height: 800 } });
    await page.goto(pages.server.url);
    await page.click('#characters >> text=Alice');
    await page.click('#memories-open');
    await page.check('#memories-wanted');
    await page.click('#memories-close');
    const user = await page.evaluate(() => localStorage.getItem('dramatis.user') ?? '');
    expect(user).not.toBe('');
    const store = new MemoryStore(memoryFile(pages.folder));
    for (let index = 0; index < 250; index += 1) {
      const turn = { session: 'long', item: `i${index}`, asked: `Turn ${index}.`, answered: 'Yes.' };
      store.record({ owner: '', user, character: 'alice' }, turn, [], index);
    }
    store.close();
    await page.click('#memories-open');
    const rows = page.locator('#memories-list > li');
    for (const count of [100, 200, 250]) {
      await rows.nth(count - 1).waitFor();
      expect(await rows.count()).toBe(count);
      if (count < 250) await page.click('#memories-older');
    }
    expect(await rows.last().innerText()).toContain('Turn 0.');
    expect(await page.isVisible('#memories-older')).toBe(false);
    await page.close();
  }, 120_000);
});
