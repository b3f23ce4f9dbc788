import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { coserPipeline } from '../../../../eval/construction/coser/pipeline.ts';
import { decisionsFile } from '../../../../eval/construction/records/decisions.ts';
import { drawDialogues, withPassages } from '../../../../eval/construction/review/samples.ts';
import { openReviewServer } from '../../../../eval/construction/review/review-server.ts';
import { unitOf } from '../../../../agents/embeddings/embedder.ts';
import { openPrompts } from '../../../../eval/construction/runner/prompts.ts';
import { speechRolePipeline } from '../../../../eval/construction/speechrole/pipeline.ts';
import { hasBrowser, openBrowser } from '../../../fakes/network/browser.ts';
import { dramatis } from '../../../rigs/command-rig.ts';
import { keep } from '../../../rigs/page-rig.ts';
import { openScratch } from '../../scratch.ts';
import { coserScript } from '../coser/coser-script.ts';
import { build, jsonLines } from '../rig/build-rig.ts';
import { scriptedModel } from '../rig/scripted-model.ts';
import { vectorOf } from '../rig/scripted-server.ts';
import { speechRoleScript } from '../speechrole/speechrole-script.ts';

const book = path.resolve(import.meta.dirname, '../books-in-public-domain/a-scandal-in-bohemia.txt');

it.skipIf(!hasBrowser('the review page'))(
  'dialogues are accepted, rejected and edited by keyboard beside their passages, and the export does as was decided',
  async () => {
    await using scratch = await openScratch();
    const [novel, folder] = [path.join(scratch.path, 'novel'), path.join(scratch.path, 'built')];
    const script = coserScript(['Sherlock Holmes', 'Doctor Watson', 'King of Bohemia']);
    const common = { rights: 'public domain', promptOf: openPrompts() };
    await build(coserPipeline({ ...common, input: book, chunkTokens: 2_000 }), novel, scriptedModel(script));
    const thresholds = { context: { en: 0.3, zh: 0.3 }, duplicate: { en: 0.99, zh: 0.99 } };
    const sizes = { requests: 1, choices: 2, chunkTokens: 1_500 };
    const pipeline = speechRolePipeline({ ...common, ...sizes, input: novel, thresholds });
    const embedder = {
      name: 'words',
      model: 'words',
      embed: async (texts: readonly string[]) => texts.map((text) => unitOf(vectorOf(text))),
    };
    const report = await build(pipeline, folder, scriptedModel(speechRoleScript(), { faults: 0.1 }), { embedder });
    const samples = await withPassages(await drawDialogues(folder, 4, 1), book);
    expect(samples.every(({ passages }) => passages.length > 0)).toBe(true);
    const ids = samples.map(({ dialogue }) => dialogue.id);
    await using server = await openReviewServer({ folder, samples, report, port: 0 });
    const browser = await openBrowser();
    try {
      const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
      await page.goto(server.url);
      await page.getByText('1 of 4').waitFor();
      expect(await page.locator('mark').count()).toBeGreaterThan(0);
      await page.keyboard.press('j');
      await page.keyboard.press('k');
      await keep(page, 'review');
      await page.keyboard.press('r');
      await page.getByText('2 of 4').waitFor();
      await page.keyboard.press('e');
      await keep(page, 'review-edit');
      await page.locator('#turns textarea').first().fill('[quietly] A line of my own.');
      await page.keyboard.press('Control+Enter');
      await page.getByText('3 of 4').waitFor();
      await page.keyboard.press('a');
      await page.getByText('4 of 4').waitFor();
      await page.keyboard.press('r');
      await page.getByText('1 accepted, 2 rejected, 1 edited').waitFor();
      await page.keyboard.press('u');
      await page.getByText('1 accepted, 1 rejected, 1 edited').waitFor();
      await page.keyboard.press('s');
      await page.getByText('Left out by “generate”').waitFor();
      expect(await page.locator('svg[aria-label*="dialogue of another form"] rect').count()).toBeGreaterThan(0);
      await keep(page, 'review-statistics');
    } finally {
      await browser.close();
    }
    const kept = jsonLines<{ id: string; decision: string }>(await readFile(decisionsFile(folder), 'utf8'));
    expect(kept.map(({ id, decision }) => [id, decision])).toEqual([
      [ids[0], 'reject'],
      [ids[1], 'edit'],
      [ids[2], 'accept'],
      [ids[3], 'reject'],
      [ids[3], 'undecided'],
    ]);
    const out = path.join(scratch.path, 'out');
    const accepted = ['--only-accepted', '--format', 'chatml', '--out', out];
    expect((await dramatis('data', 'export', folder, ...accepted)).status).toBe(0);
    const text = await Promise.all(
      ['train.jsonl', 'test.jsonl'].map((name) => readFile(path.join(out, name), 'utf8').catch(() => '')),
    );
    expect(text.join('')).toContain('A line of my own.');
    expect(text.join('')).not.toContain(JSON.stringify(samples[0]?.dialogue.turns[1]?.text).slice(1, -1));
    const again = await withPassages(await drawDialogues(folder, 4, 1), undefined);
    expect(again.map(({ dialogue }) => dialogue.id)).toEqual(ids);
  },
  60_000,
);
