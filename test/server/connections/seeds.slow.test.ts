import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { openEngines } from '../../../server/engines/engines.ts';
import { serve } from '../../rigs/serve-rig.ts';

/** Words of an answer, and the hash of its sound, by a server of its own on the embedded engines. */
async function talk(character: string, question: string, seed: number): Promise<string[]> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'dramatis-seeds-'));
  const engines = await openEngines({ dataDir, workers: 1 });
  const server = await serve({ engines });
  const call = server.call(`?model=${character}`);
  await call.until('session.created');
  const sound = createHash('sha256');
  call.socket.on('message', (data: Buffer) => {
    const event = JSON.parse(data.toString()) as { type: string; delta: string };
    if (event.type === 'response.output_audio.delta') sound.update(Buffer.from(event.delta, 'base64'));
  });
  call.send({ type: 'session.update', session: { type: 'realtime', x_dramatis: { seed } } });
  const content = [{ type: 'input_text', text: question }];
  call.send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } });
  call.send({ type: 'response.create' });
  const { response } = await call.until('response.done');
  await server.app.close();
  await engines.close();
  rmSync(dataDir, { recursive: true });
  return [response.output[0].content[0].transcript as string, sound.digest('hex')];
}

it('says the same to the last sample for the same seed, on another server, where eSpeak NG speaks', async () => {
  const first = await talk('sun-wukong', '你是谁？', 7);
  expect(await talk('sun-wukong', '你是谁？', 7)).toEqual(first);
}, 180_000);
