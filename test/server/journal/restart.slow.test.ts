import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { WebSocket } from 'ws';
import { afterEach, describe, expect, it } from 'vitest';
import { freePort, loadServer } from '../../rigs/kill-rig.ts';
import { testFolder } from '../../fakes/test-folder.ts';

interface Event extends Record<string, any> {
  readonly type: string;
  readonly x_seq: number;
}

const servers: { kill(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.kill()));
});

/** A server in its own process, on a free loopback port, once it is ready. */
async function startServerProcess(environment: Readonly<Record<string, string>>) {
  const main = path.resolve(import.meta.dirname, '../../../server/main.ts');
  const child = spawn(process.execPath, [main, 'serve'], {
    env: { ...process.env, PORT: '0', HOST: '127.0.0.1', DRAMATIS_LOG_LEVEL: 'error', ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited;
  };
  servers.push({ kill });
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /Dramatis is ready: (\S+)/.exec(line)?.[1];
    if (url === undefined) continue;
    child.stdout.resume();
    return { url, kill };
  }
  throw new Error('the server ended before it was ready');
}

/** A bare client whose events are recorded and can be awaited. */
async function connect(url: string, query: string, headers: Record<string, string> = {}) {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/realtime?${query}`, { headers });
  const events: Event[] = [];
  const waiting = new Set<() => void>();
  socket.on('message', (data) => {
    events.push(JSON.parse((data as Buffer).toString('utf8')) as Event);
    for (const look of waiting) look();
  });
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.once('open', resolve));
  return {
    socket,
    events,
    send: (event: Record<string, unknown>) => socket.send(JSON.stringify(event)),
    waitFor: (matches: (event: Event) => boolean) =>
      new Promise<Event>((resolve) => {
        const look = (): void => {
          const found = events.find(matches);
          if (found === undefined) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
      }),
  };
}

describe('restart in the middle of a reply', () => {
  it('restores a session after the server was killed in the middle of a reply, truncated to what was heard', async () => {
    const store = { DRAMATIS_STORE: 'true', DRAMATIS_DATA_DIR: testFolder() };
    const first = await startServerProcess(store);
    const before = await connect(first.url, 'model=alice&x=resume');
    const { token } = (await before.waitFor((event) => event.type === 'session.created'))['session'].x_dramatis.resume;
    const content = [{ type: 'input_text', text: 'What is your name?' }];
    before.send({ type: 'conversation.item.create', item: { id: 'q1', type: 'message', role: 'user', content } });
    before.send({ type: 'response.create' });
    const started = await before.waitFor((event) => event.type === 'response.output_item.added');
    const said = (): string =>
      before.events
        .filter((event) => event.type === 'response.output_audio_transcript.delta')
        .map((event) => event['delta'])
        .join('');
    await before.waitFor(() => said().split(' ').length > 8);
    // One second of the reply has been played by the client; more than that has been sent.
    before.send({ type: 'x_dramatis.heard', response_id: started['response_id'], samples: 24_000 });
    before.send({ type: 'conversation.item.retrieve', item_id: 'q1' });
    await before.waitFor((event) => event.type === 'conversation.item.retrieved');
    await first.kill();
    const last = before.events.at(-1)?.x_seq ?? 0;

    const second = await startServerProcess(store);
    const after = await connect(second.url, `resume=${token}&after=${last}`);
    expect(await after.waitFor(() => true)).toMatchObject({ type: 'x_dramatis.resumed', restarted: true });
    const done = await after.waitFor((event) => event.type === 'response.done');
    expect(done.x_seq).toBeGreaterThan(last);
    expect(done['response']).toMatchObject({ id: started['response_id'], status: 'cancelled' });
    after.send({ type: 'conversation.item.retrieve', item_id: started['item'].id });
    const { item } = (await after.waitFor((event) => event.type === 'conversation.item.retrieved')) as unknown as {
      item: { status: string; content: { transcript: string }[] };
    };
    const kept = item.content[0]?.transcript ?? '';
    expect(item.status).toBe('incomplete');
    expect(kept.length).toBeGreaterThan(0);
    expect(kept.length).toBeLessThan(said().trim().length);
    expect(said().startsWith(kept)).toBe(true);
    // The reply continues after that, in another response.
    const next = await after.waitFor(
      (event) => event.type === 'response.done' && event['response'].id !== started['response_id'],
    );
    expect(next['response'].status).toBe('completed');
    const whole = `${kept} ${next['response'].output[0].content[0].transcript}`;
    expect(whole.startsWith(said().trim())).toBe(true);
    after.socket.close();
  }, 300_000);
});

describe('restart of a server with keys', () => {
  it('restores a session of a killed server only for its key and its resume token', async () => {
    const [owner, other] = ['key-of-the-first-account', 'key-of-the-other-account'];
    const store = {
      DRAMATIS_STORE: 'true',
      DRAMATIS_DATA_DIR: testFolder(),
      DRAMATIS_API_KEYS: `${owner},${other}`,
    };
    const port = await freePort();
    const [first, second] = [loadServer(port, store), loadServer(port, store)];
    servers.push(first, second);
    const before = await connect(await first.listen(), 'model=alice&x=resume', { authorization: `Bearer ${owner}` });
    const { token } = (await before.waitFor((event) => event.type === 'session.created'))['session'].x_dramatis.resume;
    await first.kill();

    const url = await second.listen();
    const resume = { 'x-dramatis-resume': token as string };
    const thief = await connect(url, 'x=resume&after=1', { ...resume, authorization: `Bearer ${other}` });
    expect(await thief.waitFor(() => true)).toMatchObject({ type: 'error', error: { code: 'resume_not_allowed' } });
    const after = await connect(url, 'x=resume&after=1', resume);
    expect(await after.waitFor(() => true)).toMatchObject({ type: 'x_dramatis.resumed', restarted: true });
    after.socket.close();
  }, 300_000);
});

describe('restart in the middle of a scene', () => {
  it('restores scene, speakers and next speaker after the server was killed in a scene', async () => {
    const store = { DRAMATIS_STORE: 'true', DRAMATIS_DATA_DIR: testFolder() };
    const first = await startServerProcess(store);
    const before = await connect(first.url, 'model=alice&x=resume');
    const { token } = (await before.waitFor((event) => event.type === 'session.created'))['session'].x_dramatis.resume;
    before.send({ type: 'session.update', session: { x_dramatis: { scene: { id: 'the-locked-garden' } } } });
    before.send({ type: 'response.create' });
    const speakerOf = ({ item }: Event): string | undefined => item?.x_dramatis?.speaker?.id;
    const holmes = await before.waitFor((event) => speakerOf(event) === 'sherlock-holmes');
    await before.waitFor(
      ({ type, response_id: id }) => type === 'response.output_audio_transcript.delta' && id === holmes['response_id'],
    );
    before.send({ type: 'x_dramatis.heard', response_id: holmes['response_id'], samples: 24_000 });
    before.send({ type: 'conversation.item.retrieve', item_id: holmes['item'].id });
    await before.waitFor((event) => event.type === 'conversation.item.retrieved');
    await first.kill();
    const last = before.events.at(-1)?.x_seq ?? 0;

    const second = await startServerProcess(store);
    const after = await connect(second.url, `resume=${token}&after=${last}`);
    const cut = await after.waitFor((event) => event.type === 'response.done');
    expect(cut['response'].output[0].x_dramatis.speaker).toEqual({ id: 'sherlock-holmes', name: 'Sherlock Holmes' });
    const next = await after.waitFor((event) => event.type === 'response.output_item.added');
    // He continues with his line, and the next is hers.
    expect(speakerOf(next)).toBe('sherlock-holmes');
    await after.waitFor((event) => speakerOf(event) === 'alice');
    after.socket.close();
  }, 300_000);
});
