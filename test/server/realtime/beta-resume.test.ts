import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { fakeEngines } from '../../fakes/engines.ts';
import { betaTypes } from '../../rigs/connection-rig.ts';
import { serve } from '../../rigs/serve-rig.ts';

const beta = { 'openai-beta': 'realtime=v1' };
const ours = /^x_dramatis\./;
/** Six seconds of speech. */
const longLine = `One${' two three four'.repeat(20)}.`;

const folders: string[] = [];
afterEach(async () => {
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true, force: true })));
});

type Wire = ReturnType<Awaited<ReturnType<typeof serve>>['call']>;

/** Types of the events not awaited so far that the beta does not know. */
const foreign = ({ events }: Wire): string[] =>
  events.map(({ type }) => type as string).filter((type) => !betaTypes.has(type) && !ours.test(type));

/** Begins a reply, and loses the connection while it is spoken. */
async function dropInReply(call: (query: string, headers: Record<string, string>) => Wire) {
  const wire = call('?model=alice&x=resume', beta);
  const { token } = (await wire.until('session.created'))['session'].x_dramatis.resume;
  wire.send({ type: 'response.create' });
  const { response_id: id } = await wire.until('response.output_item.added');
  const { x_seq: last } = await wire.until('response.audio.delta');
  wire.socket.terminate();
  return { id: id as string, query: `?resume=${token}&after=${last}&x=resume` };
}

describe('resuming a beta session', () => {
  it('sends a resumed beta client the events it missed in the beta’s shapes', async () => {
    const { call } = await serve({ engines: fakeEngines({ says: [longLine] }) });
    const { id, query } = await dropInReply(call);
    const back = call(query, beta);
    await back.until('x_dramatis.resumed');
    await back.until('response.audio.delta');
    back.send({ type: 'response.cancel' });
    await expect.poll(() => back.events.some(({ type }) => type === 'response.done')).toBe(true);
    expect(foreign(back)).toEqual([]);
    const { response } = await back.until('response.done');
    expect(response).toMatchObject({ id, status: 'cancelled', modalities: ['audio', 'text'], voice: 'alice' });
  });

  it('speaks the beta to a resumed client after a server restart', async () => {
    const dataDir = await mkdtemp(path.join(tmpdir(), 'dramatis-beta-'));
    folders.push(dataDir);
    const flags = { store: true, dataDir };
    const first = await serve({ flags, engines: fakeEngines({ says: [longLine] }) });
    const { id, query } = await dropInReply(first.call);
    // It shares only the data folder with the first.
    const next = await serve({ flags });
    const back = next.call(query, beta);
    expect(await back.until('x_dramatis.resumed')).toMatchObject({ restarted: true });
    expect((await back.until('response.done'))['response']).toMatchObject({
      id,
      status: 'cancelled',
      output: [{ content: [{ type: 'audio' }] }],
    });
    back.send({ type: 'session.update', session: { turn_detection: null } });
    await expect.poll(() => back.events.some(({ type }) => type === 'session.updated')).toBe(true);
    back.send({ type: 'response.create', response: { modalities: ['text'] } });
    await expect.poll(() => back.events.some(({ type }) => type === 'response.done')).toBe(true);
    expect(foreign(back)).toEqual([]);
    expect((await back.until('session.updated'))['session']).toMatchObject({ turn_detection: null, voice: 'alice' });
    await back.until('response.text.done');
  });
});
