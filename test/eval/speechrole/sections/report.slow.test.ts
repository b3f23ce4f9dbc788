import { rm } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import metrics from '../../../../eval/prompts/metrics.json' with { type: 'json' };
import { heatColors } from '../../../../eval/report/heat-colors.ts';
import { reportHtml } from '../../../../eval/speechrole/sections/report.ts';
import { readRun } from '../../../../eval/speechrole/run-view.ts';
import { hasBrowser, openBrowser } from '../../../fakes/network/browser.ts';
import { openJudgeServer } from '../../../fakes/servers/judge-server.ts';
import { makeJudgedSet } from '../../judged-set.ts';
import { keep } from '../../../rigs/page-rig.ts';
import { evaluate, runOf } from '../../../rigs/eval-rig.ts';
import { openScratch } from '../../scratch.ts';

describe('report', () => {
  it.skipIf(!hasBrowser('the report'))(
    'the report is one self-contained file that a browser shows, audio included',
    async () => {
      await using scratch = await openScratch();
      const set = await makeJudgedSet(scratch.path, 4);
      await using judge = await openJudgeServer();
      const out = path.join(scratch.path, 'run');
      await evaluate(runOf(set, judge.url, out, ['--name', '<b>Made & up</b>']));
      expect((await evaluate(['report', out, '--worst', '2'])).status).toBe(0);
      // The files it was made from are gone.
      await rm(path.join(out, 'audio'), { recursive: true });
      await rm(path.join(scratch.path, 'test_data'), { recursive: true });
      const browser = await openBrowser();
      try {
        const page = await browser.newPage({ viewport: { width: 390, height: 800 } });
        const asked: string[] = [];
        page.on('request', (request) => asked.push(request.url().slice(0, 5)));
        await page.goto(pathToFileURL(path.join(out, 'report.html')).href);
        expect(await page.locator('h1').textContent()).toBe('<b>Made & up</b>');
        expect(await page.locator('article.card').count()).toBe(2);
        expect(await page.locator('svg[role=img]').count()).toBe(2);
        const seconds = await page
          .locator('audio')
          .first()
          .evaluate(async (element) => {
            const audio = element as HTMLAudioElement;
            if (Number.isNaN(audio.duration))
              await new Promise((resolve) => audio.addEventListener('loadedmetadata', resolve));
            return audio.duration;
          });
        expect(seconds).toBeGreaterThan(0.4);
        const beyond = await page.evaluate(
          () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
        );
        expect(beyond).toBe(0);
        await keep(page, 'report-portrait');
        await page.setViewportSize({ width: 1280, height: 800 });
        await keep(page, 'report-light');
        await page.emulateMedia({ colorScheme: 'dark' });
        await keep(page, 'report-dark');
        expect(asked.filter((url) => url !== 'file:' && url !== 'data:')).toEqual([]);
      } finally {
        await browser.close();
      }
    },
    90_000,
  );

  it('the report lists failures, and shows no missing score', async () => {
    await using scratch = await openScratch();
    const set = await makeJudgedSet(scratch.path, 2);
    await using judge = await openJudgeServer();
    judge.breaks({ kind: 'status', status: 401 });
    const out = path.join(scratch.path, 'run');
    await evaluate(runOf(set, judge.url, out, ['--protocol', 'v2']));
    const html = await reportHtml(await readRun(out), { worst: 8 });
    expect(html).toContain('ENGINE_REFUSED');
    expect(html).toContain('single/hutao/0');
    expect(html).not.toMatch(/>0\.0000</);
  });

  it('the worst dialogues are ranked only among those with all eight scores', async () => {
    await using scratch = await openScratch();
    const set = await makeJudgedSet(scratch.path, 2);
    const [asked = ''] = Object.values(metrics).map((text) => text.slice(0, 60));
    await using judge = await openJudgeServer({
      faultAt: (_, prompt) => (prompt.includes(asked) ? 'garbled' : undefined),
    });
    const out = path.join(scratch.path, 'run');
    await evaluate(runOf(set, judge.url, out, ['--parse-retries', '0']));
    expect(judge.faults.garbled).toBeGreaterThan(0);
    expect(await reportHtml(await readRun(out), { worst: 8 })).not.toContain('Worst dialogues');
  });

  it('the report colours worse warm, better cool, and unknown not at all', () => {
    const channels = (ratio: number): number[] => (heatColors(ratio).fill.match(/\d+/g) ?? []).map(Number);
    const [warm, cool] = [channels(0.4), channels(1.6)];
    expect(warm[0]).toBeGreaterThan(warm[2] as number);
    expect(cool[2]).toBeGreaterThan(cool[0] as number);
    expect(heatColors(null).fill).toContain('empty');
    expect(heatColors(7)).toEqual(heatColors(2));
  });
});
