import type { WebSocket } from 'ws';
import { openEngineServer, type EngineServer } from './engine-server.ts';

/** Results that the server sends: during speech, one per block of 960 samples, and at the end. */
export interface FunasrScript {
  readonly early?: readonly object[];
  readonly late?: readonly object[];
  /** Python server: confirms the end of a stream if the client asks for it. */
  readonly confirmsEnd?: boolean;
}

export interface FunasrServer extends EngineServer {
  /** The first message of each WebSocket. */
  readonly beginnings: Record<string, unknown>[];
  /** Length of each audio block. */
  readonly blocks: number[];
}

const early = [
  { mode: '2pass-online', text: 'hello', is_final: false },
  { mode: '2pass-online', text: ' their', is_final: false },
];
const spoken = { mode: '2pass-offline', text: 'hello there' };

/** First-pass words without punctuation and the second-pass result, as the servers of commit 3c58cb5 send them. */
export const funasrScripts = {
  python: {
    early,
    late: [{ ...spoken, spk_name: 'unknown', spk_score: 0, is_final: true, timestamp: [[0, 900]] }],
    confirmsEnd: true,
  },
  cpp: { early, late: [{ ...spoken, is_final: true, timestamp: '[[0,900]]', slice_type: 2, index: 0 }] },
  /** Its VAD has closed the sentence before the client ends the stream. */
  cppAfterPause: {
    early: [...early, { ...spoken, is_final: false, timestamp: '[[0,900]]', slice_type: 2, index: 0 }],
    late: [{ text: '', timestamp: '', is_final: true }],
  },
} as const satisfies Readonly<Record<string, FunasrScript>>;

/** FunASR's WebSocket server: one message with settings, audio, `is_speaking: false`. */
export async function openFunasrServer(script: FunasrScript = funasrScripts.python): Promise<FunasrServer> {
  const { early = [], late = [], confirmsEnd = false } = script;
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
      hasBegun = true;
      if (message['is_speaking'] !== false) return void beginnings.push(message);
      for (const result of late) tell(result);
      if (confirmsEnd && message['is_end'] === true) tell({ mode: '2pass', is_final: true, is_end: true });
    });
  };
  const server = await openEngineServer({}, { 'WS /': talk });
  return Object.assign(server, { beginnings, blocks });
}
