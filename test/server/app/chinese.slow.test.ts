import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../../server/config/config.ts';
import { connectRealtime } from '../../../server/protocol/client.ts';
import { startServer, type RunningServer } from '../../../server/app/serve.ts';
import { isEspeakInstalled } from '../../../voices/synthesizers/espeak.ts';

const available = isEspeakInstalled();
if (!available) console.warn('eSpeak NG is not installed, so no Chinese can be spoken: its test is skipped.');

describe.skipIf(!available)('Sun Wukong on the real engines', () => {
  let server: RunningServer;
  beforeAll(async () => {
    server = await startServer(readConfig({ flags: { port: '0', logLevel: 'error' }, environment: {} }));
  });
  afterAll(() => server.close());

  it('answers typed Chinese with one of the character’s lines in spoken Chinese', async () => {
    const client = await connectRealtime({
      url: server.url,
      character: 'sun-wukong',
      signal: AbortSignal.timeout(30_000),
    });
    const content = [{ type: 'input_text', text: '你的金箍棒有多重？' }];
    client.send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } });
    client.send({ type: 'response.create' });
    let said = '';
    let pcmBytes = 0;
    for await (const event of client.events) {
      if (event.type === 'response.output_audio_transcript.delta') said += String(event['delta']);
      if (event.type === 'response.output_audio.delta')
        pcmBytes += Buffer.from(String(event['delta']), 'base64').length;
      if (event.type === 'response.done') break;
    }
    client.close();
    expect(server.characters.get('sun-wukong')?.lines.map((line) => line.reply)).toContain(said.trim());
    expect(said).toContain('一万三千五百斤');
    expect(pcmBytes / 48_000).toBeGreaterThan(3);
  }, 40_000);
});
