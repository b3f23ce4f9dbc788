import type { CallPolicy } from '../../../voices/calls/call-policy.ts';
import { openContext, type EngineContext } from '../../../voices/calls/context.ts';
import { badReply } from '../../../voices/calls/http-faults.ts';
import { pcmBlocks, type PcmBlock } from '../../../voices/calls/pcm-stream.ts';
import { openSocket, type UpstreamSocket } from '../../../voices/calls/socket.ts';
import type { SpeechSynthesizer } from '../../../voices/synthesizer.ts';
import { speakByPhrase, type RenderOptions } from '../../../voices/synthesis/by-phrase.ts';
import { synthesizerConformance } from '../../conformance/synthesizer.ts';
import { secretKey, type Opened } from '../../conformance/upstream.ts';
import { openEngineServer } from '../../fakes/servers/engine-server.ts';
import { pcmOf } from '../../fakes/server-audio.ts';

// A protocol made up for this test: it shows that the suite and its faults work over WebSockets, and how an adapter is built on them.

/** Text in, binary audio out, `{"done":true}` at the end. */
function openToy(context: EngineContext, url: string): SpeechSynthesizer {
  async function* render(text: string, { signal }: RenderOptions): AsyncGenerator<PcmBlock> {
    const socket = await openSocket(context, { url, headers: { authorization: `Bearer ${context.key}` } }, { signal });
    try {
      socket.send(JSON.stringify({ text }));
      yield* pcmBlocks(soundOf(socket, context), { sampleRate: 24_000 });
    } finally {
      socket.close();
    }
  }
  return speakByPhrase({ languages: ['en'], maxCharacters: 400, comesWhole: false, render }, context);
}

async function* soundOf(socket: UpstreamSocket, context: EngineContext): AsyncGenerator<Buffer> {
  const { firstByteMs, betweenBytesMs } = context.timeouts;
  for (let limitMs = firstByteMs; ; limitMs = betweenBytesMs) {
    const message = await socket.receive(limitMs);
    if (message === undefined) throw badReply(context, 'a goodbye instead of audio');
    if (typeof message !== 'string') yield message;
    else if (message === '{"done":true}') return;
    else throw badReply(context, 'something that is no event');
  }
}

synthesizerConformance({
  title: 'a toy over WebSocket',
  voice: { kind: 'preset', id: 'martha' },
  behindServer: true,
  undetectable: { 'closes its half of the connection halfway': 'a WebSocket has no halves' },
  async open(care?: CallPolicy): Promise<Opened<SpeechSynthesizer>> {
    const server = await openEngineServer(
      {},
      {
        'WS /speak': (socket) =>
          socket.on('message', (data: Buffer) => {
            const { text } = JSON.parse(data.toString()) as { text: string };
            const pcm = pcmOf(text, 24_000);
            for (let at = 0; at < pcm.length; at += 2_401) socket.send(pcm.subarray(at, at + 2_401));
            socket.send('{"done":true}');
          }),
      },
    );
    const engine = openToy(openContext('toy', { key: secretKey, callPolicy: [care] }), `${server.url}/speak`);
    const upstream = { server, route: 'WS /speak' };
    return { engine, upstream, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
  },
});
