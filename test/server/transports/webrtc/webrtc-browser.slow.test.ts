import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../../../server/config/config.ts';
import { startServer, type RunningServer } from '../../../../server/app/serve.ts';
import { hasBrowser, openBrowserThatAsks, type TestBrowser } from '../../../fakes/network/browser.ts';

const bundle = path.resolve(import.meta.dirname, '../../../../node_modules/@openai/agents-realtime/dist/bundle');
const apiKey = 'server-key';

const html =
  '<!doctype html><script type="module">import * as sdk from "/openai-realtime-agents.mjs"; globalThis.sdk = sdk;</script>';

/** Somebody else's web server: an empty page, and the stock SDK for browsers. */
async function openSite(): Promise<{ origin: string; server: Server }> {
  const server = createServer((request, response) => {
    const name = path.basename(request.url ?? '');
    if (!name.endsWith('.mjs')) return void response.setHeader('content-type', 'text/html').end(html);
    readFile(path.join(bundle, name)).then(
      (script) => response.setHeader('content-type', 'text/javascript').end(script),
      () => response.writeHead(404).end(),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const available = hasBrowser('WebRTC in a browser');

describe.skipIf(!available)('WebRTC in a real browser', () => {
  let site: Awaited<ReturnType<typeof openSite>>;
  let server: RunningServer;
  let browser: TestBrowser;

  beforeAll(async () => {
    site = await openSite();
    const flags = { port: '0', logLevel: 'error', apiKeys: apiKey, allowedOrigins: site.origin };
    server = await startServer(readConfig({ flags, environment: {} }));
    browser = await openBrowserThatAsks(server);
  }, 60_000);

  afterAll(async () => {
    site?.server.close();
    await server?.close();
    await browser?.close();
  });

  /** A key that a browser may hold. */
  async function clientSecret(): Promise<string> {
    const response = await fetch(`${server.url}/v1/realtime/client_secrets`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: '{}',
    });
    return ((await response.json()) as { value: string }).value;
  }

  async function openPage(): Promise<Page> {
    const page = await browser.newPage();
    await page.goto(site.origin);
    await page.waitForFunction('globalThis.sdk');
    return page;
  }

  it('holds a spoken turn over WebRTC on a page of another origin', async () => {
    const page = await openPage();
    const result = await page.evaluate(talkWebRtc, {
      url: `${server.url}/v1/realtime/calls`,
      key: await clientSecret(),
    });
    expect(result.status).toBe(201);
    expect(result.location).toMatch(/^\/v1\/realtime\/calls\/rtc_/);
    expect(result.heard.toLowerCase()).toContain('best friend');
    // What is answered depends on the words that a busy machine heard; that it is answered does not.
    expect(result.said).toMatch(/\p{L}{2}/u);
    expect(result.types).toEqual(
      expect.arrayContaining(['session.created', 'output_audio_buffer.started', 'output_audio_buffer.stopped']),
    );
    expect(result.playedEnergy).toBeGreaterThan(0.001);
    // Our receiver reports reach the browser.
    expect(result.reportedLoss).toBe(0);
    await page.close();
    await expect.poll(() => sessions(server)).toBe(0);
  }, 120_000);

  it('holds a typed turn and an interruption with the stock browser SDK over WebRTC', async () => {
    const page = await openPage();
    const url = `${server.url}/v1/realtime/calls`;
    const result = await page.evaluate(talkWithStockSdk, { url, key: await clientSecret() });
    expect(result.callId).toMatch(/^rtc_/);
    expect(result.errors).toEqual([]);
    expect(result.history).toMatchObject([
      { role: 'user', content: [{ type: 'input_text', text: 'What is your name?' }] },
      { role: 'assistant', status: 'completed', content: [{ transcript: expect.stringContaining('Holmes') }] },
      { role: 'user', content: [{ text: 'Tell me about your best friend.' }] },
      { role: 'assistant' },
    ]);
    expect(result.buffer).toEqual(['started', 'stopped', 'started', 'cleared']);
    expect(result.statuses).toEqual(['completed', 'cancelled']);
    await expect.poll(() => sessions(server)).toBe(0);
    await page.close();
  }, 120_000);
});

/** Conversations under way. */
async function sessions(server: RunningServer): Promise<number> {
  const health = (await (await fetch(`${server.url}/healthz`)).json()) as { sessions: { active: number } };
  return health.sessions.active;
}

/** Runs in the page: `OpenAIRealtimeWebRTC` of `@openai/agents-realtime`, as its README has it, with a silent microphone. */
async function talkWithStockSdk({ url, key }: { url: string; key: string }) {
  const { sdk } = globalThis as unknown as { sdk: typeof import('@openai/agents-realtime') };
  const mediaStream = new AudioContext().createMediaStreamDestination().stream;
  const transport = new sdk.OpenAIRealtimeWebRTC({ baseUrl: url, mediaStream, audioElement: new Audio() });
  const agent = new sdk.RealtimeAgent({ name: 'Holmes', instructions: 'It rains.' });
  const session = new sdk.RealtimeSession(agent, { transport });
  const events: any[] = [];
  const errors: string[] = [];
  session.on('error', ({ error }) => void errors.push(JSON.stringify(error)));
  const until = (type: string): Promise<void> =>
    new Promise((resolve) => transport.on('*', (event) => (event.type === type ? resolve() : undefined)));
  transport.on('*', (event) => void events.push(event));
  await session.connect({ apiKey: key });
  const { callId } = transport;
  session.sendMessage('What is your name?');
  await until('output_audio_buffer.stopped');
  session.sendMessage('Tell me about your best friend.');
  await until('output_audio_buffer.started');
  session.interrupt();
  await Promise.all([until('response.done'), until('output_audio_buffer.cleared')]);
  const history = structuredClone(session.history) as any[];
  session.close();
  return {
    callId,
    errors,
    history,
    buffer: events.flatMap(({ type }) => (type as string).match(/^output_audio_buffer\.(.*)$/)?.[1] ?? []),
    statuses: events.flatMap(({ type, response }) => (type === 'response.done' ? [response.status as string] : [])),
  };
}

/** Runs in the page: holds one spoken turn, on nothing but what browsers have. */
async function talkWebRtc({ url, key }: { url: string; key: string }) {
  const connection = new RTCPeerConnection();
  const audio = new Audio();
  audio.autoplay = true;
  connection.ontrack = ({ streams }) => (audio.srcObject = streams[0] ?? null);
  const microphone = await navigator.mediaDevices.getUserMedia({ audio: true });
  for (const track of microphone.getTracks()) connection.addTrack(track, microphone);
  const channel = connection.createDataChannel('oai-events');
  const events: any[] = [];
  const stopped = new Promise<void>((resolve) => {
    channel.onmessage = ({ data }) => {
      events.push(JSON.parse(data as string));
      if (events.at(-1).type === 'output_audio_buffer.stopped') resolve();
    };
  });
  await connection.setLocalDescription();
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/sdp' },
    body: connection.localDescription?.sdp ?? '',
  });
  await connection.setRemoteDescription({ type: 'answer', sdp: await response.text() });
  await stopped;
  const stats: any[] = [...(await connection.getStats()).values()];
  connection.close();
  const last = (type: string): any => events.findLast((event) => event.type === type);
  return {
    status: response.status,
    location: response.headers.get('location'),
    types: events.map((event) => event.type as string),
    // A pause may have split the question into two turns.
    heard: events
      .filter(({ type }) => type === 'conversation.item.input_audio_transcription.completed')
      .map(({ transcript }) => transcript as string)
      .join(' '),
    said: last('response.output_audio_transcript.done').transcript as string,
    playedEnergy: stats.find(({ type }) => type === 'inbound-rtp').totalAudioEnergy as number,
    reportedLoss: stats.find(({ type }) => type === 'remote-inbound-rtp')?.packetsLost as number | undefined,
  };
}
