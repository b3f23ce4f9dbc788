import type { WebSocket } from 'ws';
import { openEngineServer, type EngineServer } from './engine-server.ts';
import { pcmOf } from '../server-audio.ts';

export interface RealtimeServer extends EngineServer {
  /** Every event that clients sent. */
  readonly told: Record<string, unknown>[];
}

/** Protocol variants: event names and the way audio is sent. */
export type RealtimeShape = 'openai' | 'beta' | 'speaches' | 'qwen' | 'glm';

const paths = {
  openai: 'WS /v1/realtime',
  beta: 'WS /v1/realtime',
  speaches: 'WS /v1/realtime',
  qwen: 'WS /api-ws/v1/realtime',
  glm: 'WS /api/paas/v4/realtime',
} as const;

export function realtimeRoute(shape: RealtimeShape): string {
  return paths[shape];
}

interface Told {
  readonly type: string;
  readonly session?: { readonly output_modalities?: string[] } & SpeachesSession;
  readonly audio?: string;
  readonly item?: { readonly content: readonly { readonly type: string; readonly transcript?: string }[] };
}

/** Opens a server for OpenAI's Realtime API, or one of its copies. It replies `says` to anything, or the error. */
export async function openRealtimeServer(
  says = 'Good evening, my friend.',
  failsWith?: string,
  shape: RealtimeShape = 'openai',
): Promise<RealtimeServer> {
  const told: RealtimeServer['told'] = [];
  if (shape === 'speaches') {
    const server = await openEngineServer(
      {},
      { [paths.speaches]: (socket) => speachesSession(socket, told, says, failsWith) },
    );
    return Object.assign(server, { told });
  }
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

interface SpeachesSession {
  readonly input_audio_format?: string;
  readonly output_audio_format?: string;
  readonly turn_detection?: Record<string, unknown> | null;
  readonly modalities?: string[];
}

/**
 * A session of speaches, commit 870e1e1. It refuses a session without turn detection, reports fields that it does not
 * take as errors and applies the others, ignores audio in items, and never answers an item of two parts.
 */
function speachesSession(socket: WebSocket, told: RealtimeServer['told'], says: string, failsWith?: string): void {
  const tell = (event: object): void => socket.send(JSON.stringify(event));
  const refuse = (code: string | null): void =>
    tell({ type: 'error', error: { type: 'invalid_request_error', code, message: 'no: private' } });
  const detectionFields = ['create_response', 'prefix_padding_ms', 'silence_duration_ms', 'threshold'];
  let detection: Record<string, unknown> = { threshold: 0.9, create_response: true };
  let speaks = true;
  let bufferedBytes = 0;
  let isStuck = false;
  const respond = (): void => {
    if (failsWith !== undefined) return refuse(failsWith);
    tell({ type: 'response.created', response: { status: 'incomplete' } });
    if (!isStuck) answer(tell, says, speaks, '');
  };
  const update = ({ turn_detection: wanted, ...session }: SpeachesSession): void => {
    if (wanted === null) return refuse(null);
    if (session.input_audio_format !== undefined) refuse(null);
    if (session.output_audio_format !== undefined) refuse(null);
    // An incomplete object is ignored; a complete one has a field that is not supported.
    if (wanted !== undefined && detectionFields.every((name) => name in wanted)) {
      refuse(null);
      detection = wanted;
    }
    speaks = session.modalities?.includes('audio') ?? speaks;
    tell({ type: 'session.updated', session: {} });
  };
  // Under load, `session.created` is lost: it is published before its sender listens.
  socket.on('message', (data: Buffer) => {
    const event = JSON.parse(data.toString('utf8')) as Record<string, unknown> & Told;
    told.push(event);
    const parts = event.item?.content ?? [];
    switch (event.type) {
      case 'session.update':
        return update(event.session ?? {});
      case 'conversation.item.create':
        if (parts.some(({ type, transcript }) => type === 'input_audio' && transcript === undefined))
          return refuse(null);
        isStuck ||= parts.length !== 1;
        return tell({ type: 'conversation.item.created', item: event.item });
      case 'input_audio_buffer.append':
        bufferedBytes += Buffer.from(event.audio ?? '', 'base64').length;
        // Its own VAD would cut the speech, and fail at the commit.
        isStuck ||= Number(detection['threshold']) < 1;
        return;
      case 'input_audio_buffer.commit':
        if (bufferedBytes < 4_800) return refuse(null);
        tell({ type: 'input_audio_buffer.committed' });
        tell({ type: 'conversation.item.input_audio_transcription.completed', transcript: 'hello' });
        return detection['create_response'] === true ? respond() : undefined;
      default:
        respond();
    }
  });
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
