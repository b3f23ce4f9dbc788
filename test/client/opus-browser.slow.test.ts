import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { floatsFromPcm16 } from '../../voices/audio.ts';
import { fakeEngines } from '../fakes/engines.ts';
import { hasBrowser, openBrowser, type TestBrowser } from '../fakes/network/browser.ts';
import { signalToNoise } from '../fakes/voice-like.ts';
import { voicedSynthesizer } from '../fakes/voiced-synthesizer.ts';
import { serve } from '../rigs/serve-rig.ts';

describe.skipIf(!hasBrowser('Opus in a browser'))('open-talk with Opus in a real browser', () => {
  let browser: TestBrowser;
  beforeAll(async () => {
    browser = await openBrowser();
  }, 60_000);

  afterAll(() => browser?.close());

  it('sends and plays Opus with WebCodecs to the sample under our content security policy', async () => {
    const synthesizer = voicedSynthesizer();
    const engines = fakeEngines({ synthesizer, says: ['one two three four five six seven.'] });
    const server = await serve({ engines, flags: { playoutAheadMs: '5000' } });
    const page = await browser.newPage();
    await page.goto(server.url);
    // As text, because vitest rewrites an import that it sees.
    await page.evaluate(`import('/client/open-talk.js').then((client) => void (globalThis.client = client))`);
    const result = await page.evaluate(talk);
    await page.close();
    expect(result.errors).toEqual([]);
    expect(result.codecs).toEqual({ sent: [1], received: [1] });
    const made = synthesizer.made();
    const came = floatsFromPcm16(Uint8Array.from(result.sound));
    expect(came).toHaveLength(made.length);
    expect(signalToNoise(made, came, 1)).toBeGreaterThan(15);
    expect(engines.recognizer).toHaveProperty('heardMs', [416.5625]);
  }, 60_000);
});

/** Runs in the page. */
async function talk() {
  const { openTalk } = (globalThis as unknown as { client: typeof import('../../server/client/types/api.d.ts') })
    .client;
  const codecs = { sent: new Set<number>(), received: new Set<number>() };
  class Watched extends WebSocket {
    constructor(url: string | URL, protocols: string[]) {
      super(url, protocols);
      this.addEventListener('message', ({ data }) => {
        if (data instanceof ArrayBuffer) codecs.received.add(new Uint8Array(data)[1] ?? 0);
      });
    }

    override send(data: string | Uint8Array<ArrayBuffer>): void {
      if (typeof data !== 'string') codecs.sent.add(data[1] ?? 0);
      super.send(data);
    }
  }
  const character = openTalk({ url: location.origin, character: 'alice', opus: true, WebSocket: Watched });
  const errors: unknown[] = [];
  const sound: number[] = [];
  for await (const event of character.events) {
    if (event.type === 'error') errors.push(event.error);
    else if (event.type === 'session.created') {
      const session = { type: 'realtime', audio: { input: { turn_detection: null } } };
      character.send({ type: 'session.update', session });
      character.sendAudio(Int16Array.from({ length: 10_007 }, (_, index) => 6_000 * Math.sin(index / 20)));
      character.send({ type: 'input_audio_buffer.commit' });
      character.send({ type: 'response.create' });
    } else if (event.type === 'response.output_audio.delta') sound.push(...event.pcm16);
    else if (event.type === 'response.done') character.close();
  }
  return { errors, sound, codecs: { sent: [...codecs.sent], received: [...codecs.received] } };
}
