import { describe, expect, it } from 'vitest';
import { hasBrowser, openBrowser } from '../fakes/network/browser.ts';
import { openFlakyProxy } from '../fakes/network/flaky-proxy.ts';
import { openRig } from '../rigs/talk-rig.ts';

describe.skipIf(!hasBrowser('a cut of the page’s connection'))('page', () => {
  it('continues after the page’s connection was cut and starts a new session if the old one is gone', async () => {
    await using rig = await openRig({ says: ['First answer.', 'Second answer.', 'Third answer.'] });
    await using other = await openRig({ says: ['Fourth answer.'] });
    await using proxy = await openFlakyProxy(rig.port);
    const browser = await openBrowser();
    try {
      const page = await browser.newPage();
      await page.goto(proxy.url);
      await page.click('#characters >> text=Alice');
      const ask = async (text: string): Promise<void> => {
        await page.fill('#text', text);
        await page.click('#send');
      };
      const answer = (text: string): Promise<void> =>
        page.locator(`#transcript li[data-role="character"][data-status="done"]:has-text("${text}")`).waitFor();
      await ask('One?');
      await answer('First answer.');
      proxy.cut();
      await ask('Two?');
      await answer('Second answer.');
      proxy.cut();
      await ask('Three?');
      await answer('Third answer.');
      expect(await page.locator('#message').innerText()).toBe('');
      expect(rig.engines.agent.histories.at(-1)?.map(({ text }) => text)).toEqual([
        'One?',
        'First answer.',
        'Two?',
        'Second answer.',
        'Three?',
      ]);
      const begunAnew = new Promise<void>((resolve) => {
        page.on('websocket', (socket) =>
          socket.on('framereceived', ({ payload }) => void (String(payload).includes('session.created') && resolve())),
        );
      });
      proxy.retarget(other.port);
      proxy.cut();
      await begunAnew;
      await ask('Four?');
      await answer('Fourth answer.');
      const texts = other.engines.agent.histories.at(-1)?.map(({ text }) => text);
      expect(texts).toEqual(['One?', 'First answer.', 'Two?', 'Second answer.', 'Three?', 'Third answer.', 'Four?']);
    } finally {
      await browser.close();
    }
  }, 60_000);
});
