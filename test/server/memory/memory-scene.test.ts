import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { keptIn, say, type Call } from '../../rigs/memory-rig.ts';
import { stages } from '../../rigs/scene-rig.ts';
import { serve } from '../../rigs/serve-rig.ts';

const folders: string[] = [];
afterEach(() => folders.splice(0).forEach((folder) => rmSync(folder, { recursive: true })));

async function serveScenes() {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'dramatis-memory-scene-'));
  folders.push(dataDir);
  return startIn(dataDir);
}

/** A server of scenes that remembers, over that folder. */
async function startIn(dataDir: string) {
  const server = await serve({ flags: { memory: true, store: true, dataDir } });
  for (const stage of stages) server.characters.set(stage.id, stage);
  return {
    ...server,
    dataDir,
    kept: () => keptIn(dataDir),
  };
}

async function choose(call: Call, id: string | null): Promise<void> {
  const scene = id === null ? null : { id };
  call.send({ type: 'session.update', session: { type: 'realtime', x_dramatis: { scene } } });
  await call.until('session.updated');
}

describe('memory and scenes', () => {
  it('stores nothing that was said in a scene in the middle of a session', async () => {
    const server = await serveScenes();
    const call = server.call('?model=alice&user=bob');
    await call.until('session.created');
    await say(call, 'Hello.');
    await choose(call, 'the-locked-garden');
    await say(call, 'My sister is called Mary.');
    await choose(call, null);
    await say(call, 'We are alone again.');
    await choose(call, 'the-locked-garden');
    const content = [{ type: 'input_text', text: 'My dog is called Rex.' }];
    call.send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } });
    await call.until('conversation.item.done');
    call.socket.close();
    await call.closed;
    await server.app.close();
    expect(server.kept()).toMatchObject([{ asked: 'We are alone again.' }, { asked: 'Hello.' }]);
  });

  it('stores nothing of a scene that the server was stopped in', async () => {
    const first = await serveScenes();
    const before = first.call('?model=alice&x=resume&user=bob');
    const { session } = await before.until('session.created');
    await say(before, 'Hello.');
    await choose(before, 'the-locked-garden');
    before.send({ type: 'response.create' });
    await before.until('response.output_audio_transcript.delta');
    await first.app.close();
    await before.closed;
    const next = await startIn(first.dataDir);
    const after = next.call(`?x=resume&resume=${session.x_dramatis.resume.token}&after=0`);
    await after.until('x_dramatis.resumed');
    await say(after, 'Who was here?');
    await choose(after, null);
    await say(after, 'We are alone again.');
    expect(next.kept()).toMatchObject([{ asked: 'We are alone again.' }, { asked: 'Hello.' }]);
  });

  it('deletes a message from memory that the client deletes during a scene', async () => {
    const server = await serveScenes();
    const call = server.call('?model=alice&user=bob');
    await call.until('session.created');
    const content = [{ type: 'input_text', text: 'I live in Leeds.' }];
    call.send({ type: 'conversation.item.create', item: { id: 'u1', type: 'message', role: 'user', content } });
    await say(call, 'Hello.');
    await choose(call, 'the-locked-garden');
    call.send({ type: 'conversation.item.delete', item_id: 'u1' });
    await call.until('conversation.item.deleted');
    expect(server.kept()).toMatchObject([{ asked: 'Hello.' }]);
  });
});
