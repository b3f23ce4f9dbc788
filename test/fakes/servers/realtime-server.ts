import { openEngineServer, type EngineServer } from './engine-server.ts';
import { pcmOf } from '../server-audio.ts';

export interface RealtimeServer extends EngineServer {
  /** Every event that clients sent. */
  readonly told: Record<string, unknown>[];
}

/** Protocol variants: event names and the way audio is sent. */
export type RealtimeShape = 'openai' | 'beta' | 'qwen' | 'glm';

const paths = {
  openai: 'WS /v1/realtime',
  beta: 'WS /v1/realtime',
  qwen: 'WS /api-ws/v1/realtime',
  glm: 'WS /api/paas/v4/realtime',
} as const;

export function realtimeRoute(shape: RealtimeShape): string {
  return paths[shape];
}

interface Told {
  readonly type: string;
  readonly session?: { readonly output_modalities?: string[]; readonly modalities?: string[] };
  readonly audio?: string;
}

/** Opens a server for OpenAI's Realtime API, or one of its copies. It replies `says` to anything, or the error. */
export async function openRealtimeServer(
  says = 'Good evening, my friend.',
  failsWith?: string,
  shape: RealtimeShape = 'openai',
): Promise<RealtimeServer> {
  const told: RealtimeServer['told'] = [];
  const server = await openEngineServer(
    {},
    {
      [paths[shape]]: (socket) => {
        const tell = (event: object): void => socket.send(JSON.stringify(event));
        const refuse = (code: string): void =>
          tell({ type: 'error', error: { type: 'invalid_request_error', code, message: 'no: private' } });
        tell({ type: 'session.created', session: { type: 'realtime' } });
        let speaks = true;
        socket.on('message', (data: Buffer) => {
          const event = JSON.parse(data.toString('utf8')) as Record<string, unknown> & Told;
          told.push(event);
          switch (event.type) {
            case 'session.update':
              if ((event.session?.modalities === undefined) !== (shape === 'openai'))
                return refuse('unknown_parameter');
              speaks = (event.session?.output_modalities ?? event.session?.modalities ?? []).includes('audio');
              return tell({ type: 'session.updated', session: {} });
            case 'conversation.item.create':
              return tell({ type: 'conversation.item.added', item: {} });
            case 'input_audio_buffer.append': {
              const isWav = Buffer.from(event.audio ?? '', 'base64').toString('latin1', 0, 4) === 'RIFF';
              return isWav === (shape === 'glm') ? undefined : refuse('invalid_audio');
            }
            case 'input_audio_buffer.commit':
              return tell({ type: 'input_audio_buffer.committed' });
            default:
              if (failsWith !== undefined) return refuse(failsWith);
              if (shape === 'glm') tell({ type: 'heartbeat' });
              answer(tell, says, speaks, shape === 'openai' ? 'output_' : '');
          }
        });
      },
    },
  );
  return Object.assign(server, { told });
}

function answer(tell: (event: object) => void, says: string, speaks: boolean, prefix: 'output_' | ''): void {
  tell({ type: 'response.created', response: {} });
  const words = speaks ? `response.${prefix}audio_transcript.delta` : `response.${prefix}text.delta`;
  for (const delta of says.split(/(?<= )/)) tell({ type: words, delta });
  const pcm = speaks ? pcmOf(says, 24_000) : Buffer.alloc(0);
  // Pieces that cut samples apart.
  for (let at = 0; at < pcm.length; at += 4_801) {
    tell({ type: `response.${prefix}audio.delta`, delta: pcm.subarray(at, at + 4_801).toString('base64') });
  }
  const usage = { input_tokens: 60, output_tokens: 40 };
  tell({ type: 'response.done', response: { status: 'completed', status_details: null, usage } });
}
