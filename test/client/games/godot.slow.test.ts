import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { MouthTimeline } from '../../../server/client/mouth/mouth-timeline.js';
import { pcm16FromFloats } from '../../../voices/audio.ts';
import { hasBrowser, openBrowser, openBrowserThatAsks } from '../../fakes/network/browser.ts';
import { openFlakyProxy } from '../../fakes/network/flaky-proxy.ts';
import { spoken } from '../../fakes/spoken.ts';
import { keep, servePages } from '../../rigs/page-rig.ts';
import { comparable, conformanceFile, recorded } from './compare.ts';
import { serveGodot } from './godot/engine.ts';

/** WebGL without a graphics card. */
const flags = ['--enable-unsafe-swiftshader'];

const startedType = 'input_audio_buffer.speech_started';
const stoppedType = 'input_audio_buffer.speech_stopped';

type Godot = Awaited<ReturnType<typeof serveGodot>>;
type Report = readonly [kind: string, what: any];

/** Opens the engine in a page and records what its scene reports. */
async function openScene(godot: Godot, page: Page, query: string) {
  const reports: Report[] = [];
  const waiting = new Set<() => void>();
  onTestFinished(({ task }) => {
    const told = reports
      .filter(([kind]) => kind !== 'mouth' && kind !== 'play')
      .map((each) => JSON.stringify(each).slice(0, 160));
    if (task.result?.state === 'fail') console.log(told.join('\n'));
  });
  await godot.open(page, query, (text) => {
    reports.push(JSON.parse(text) as Report);
    for (const look of waiting) look();
  });
  return {
    reports,
    of: (kind: string): any[] => reports.filter((each) => each[0] === kind).map(([, what]) => what),
    /** Resolves to the first report of this kind from this one on. */
    until: (kind: string, isIt: (what: any) => boolean = () => true, from = 0) =>
      new Promise<any>((resolve) => {
        const look = (): void => {
          const found = reports.slice(from).find(([each, what]) => each === kind && isIt(what));
          if (found === undefined) return;
          waiting.delete(look);
          resolve(found[1]);
        };
        waiting.add(look);
        look();
      }),
    tell: (kind: 'say' | 'hear', what: string) =>
      page.evaluate(([first, second]) => (globalThis as any).tell(first, second), [kind, what] as const),
  };
}

describe.skipIf(!hasBrowser('the client for Godot'))('the add-on in Godot’s web engine', () => {
  let godot: Godot;
  const settings: Record<string, string> = {};
  beforeAll(async () => {
    godot = await serveGodot(conformanceFile);
    settings['allowedOrigins'] = godot.url;
  });
  afterAll(() => godot?.close());

  it('does what the conformance file says', async () => {
    const browser = await openBrowser(undefined, flags);
    onTestFinished(() => browser.close());
    const page = await browser.newPage();
    const done = await new Promise<string>((resolve) => void godot.open(page, '', resolve));
    const steps = JSON.parse(done) as Parameters<typeof comparable>[0][];
    for (const [index, { name, steps: expected }] of recorded.entries()) {
      expect({ name, steps: comparable(steps[index] ?? []) }).toEqual({ name, steps: comparable(expected) });
    }
  }, 60_000);

  describe('with a server', () => {
    const pages = servePages({ flags: settings });

    it('asks by microphone, keeps its line through a cut, moves the mouth with the sound, and stops when spoken to', async () => {
      const { server } = pages;
      const alice = server.characters.get('alice')!;
      await using proxy = await openFlakyProxy(Number(new URL(server.url).port));
      const browser = await openBrowserThatAsks(server, { flags });
      onTestFinished(() => browser.close());
      const page = await browser.newPage();
      const scene = await openScene(godot, page, `microphone&live=${proxy.url}`);
      // The question lasts 4.6 s. Its words are not compared: on a busy machine the engine's microphone loses frames.
      const { audio_start_ms: from } = await scene.until('event', ({ type }) => type === startedType);
      const { audio_end_ms: until } = await scene.until('event', ({ type }) => type === stoppedType);
      expect(until - from).toBeGreaterThan(3000);
      expect(until - from).toBeLessThan(6500);
      await scene.until('says');
      await scene.until('mouth', ({ sample }) => sample > 12_000);
      await keep(page, 'godot');
      proxy.cut();
      await scene.until('lost');
      expect(await scene.until('open', ({ is_new }) => !is_new)).toMatchObject({ is_restarted: false, lost_ms: 0 });
      const { item } = await scene.until('mouth', ({ sample }) => sample > 36_000);
      // A voice over the answer.
      const speech = await spoken('Excuse me, sir, what time is it now?', server.engines.voiceOf(alice));
      const before = scene.reports.length;
      await scene.tell('hear', pcm16FromFloats(speech).toString('base64'));
      const { samples: heard } = await scene.until('cut', () => true, before);
      expect(heard).toBeGreaterThan(36_000);
      const cut = scene.reports.findIndex(([kind], index) => kind === 'cut' && index >= before);
      expect(await scene.until('mouth', () => true, cut)).toMatchObject({ weights: { sil: 1 } });
      await scene.until('you', (text) => /time/i.test(text), before);
      // Nothing was lost or repeated: numbers, sound and shapes follow each other.
      const reports = scene.reports.slice(0, cut);
      const numbers = reports.flatMap(([kind, what]) => (kind === 'event' ? [what.x_seq] : []));
      expect(new Set(numbers).size).toBe(numbers.length);
      expect(Math.max(...numbers)).toBe(numbers.length + reports.filter(([kind]) => kind === 'play').length);
      const told = reports.flatMap(([kind, what]) =>
        kind === 'event' && what.type === 'x_dramatis.visemes' ? [what] : [],
      );
      expect(told.map(({ from }) => from)).toEqual([0, ...told.slice(0, -1).map(({ until: end }) => end)]);
      // Each frame shows the shape of the sample that is heard.
      const timeline = new MouthTimeline();
      for (const each of told) timeline.tell(each);
      const frames = reports.flatMap(([kind, what]) => (kind === 'mouth' && what.item === item ? [what] : []));
      expect(frames.length).toBeGreaterThan(20);
      for (const { sample, weights } of frames) {
        for (const [viseme, weight] of Object.entries(timeline.weightsAt(sample) ?? {}))
          expect(weights[viseme] ?? 0).toBeCloseTo(weight, 4);
      }
    }, 90_000);
  });
});
