import type { WebSocket } from 'ws';
import { openEngineServer, type EngineServer } from './engine-server.ts';

/** Results that the server sends: during speech, one per block of 960 samples, and at the end. */
export interface FunasrScript {
  readonly early?: readonly object[];
  readonly late?: readonly object[];
}

export interface FunasrServer extends EngineServer {
  /** The first message of each WebSocket. */
  readonly beginnings: Record<string, unknown>[];
  /** Length of each audio block. */
  readonly blocks: number[];
}

/** First-pass words without punctuation, and the second-pass result. */
const usual: FunasrScript = {
  early: [
    { mode: '2pass-online', text: 'hello', is_final: false },
    { mode: '2pass-online', text: ' their', is_final: false },
  ],
  late: [{ mode: '2pass-offline', text: 'hello there', is_final: true, timestamp: '[[0,900]]' }],
};

/** FunASR's WebSocket server: one message with settings, audio, `is_speaking: false`. */
export async function openFunasrServer({ early = [], late = [] }: FunasrScript = usual): Promise<FunasrServer> {
  const beginnings: FunasrServer['beginnings'] = [];
  const blocks: number[] = [];
  const talk = (socket: WebSocket): void => {
    if (socket.protocol !== 'binary') return socket.close(1002);
    let said = 0;
    let hasBegun = false;
    const tell = (result: object): void => socket.send(JSON.stringify({ wav_name: 'utterance', ...result }));
    socket.on('message', (data: Buffer, isBinary) => {
      if (isBinary) {
        blocks.push(data.length);
        // Audio before the settings is dropped.
        const next = hasBegun ? early[said] : undefined;
        said += 1;
        if (next !== undefined) tell(next);
        return;
      }
      const message = JSON.parse(data.toString('utf8')) as Record<string, unknown>;
      if (message['is_speaking'] === false) for (const result of late) tell(result);
      else beginnings.push(message);
      hasBegun = true;
    });
  };
  const server = await openEngineServer({}, { 'WS /': talk });
  return Object.assign(server, { beginnings, blocks });
}
