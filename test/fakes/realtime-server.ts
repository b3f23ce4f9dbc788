import { openEngineServer, type EngineServer } from './engine-server.ts';
import { pcmOf } from './sound.ts';

export interface RealtimeServer extends EngineServer {
  /** Every event that clients sent. */
  readonly told: Record<string, unknown>[];
}

/** OpenAI's Realtime API: `says` to anything, or the error. */
export async function openRealtimeServer(
  says = 'Good evening, my friend.',
  failsWith?: string,
): Promise<RealtimeServer> {
  const told: RealtimeServer['told'] = [];
  const server = await openEngineServer(
    {},
    {
      'WS /v1/realtime': (socket) => {
        const tell = (event: object): void => socket.send(JSON.stringify(event));
        tell({ type: 'session.created', session: { type: 'realtime' } });
        let speaks = true;
        socket.on('message', (data: Buffer) => {
          const event = JSON.parse(data.toString('utf8')) as Record<string, unknown> & {
            session?: { output_modalities: string[] };
          };
          told.push(event);
          if (event['type'] === 'session.update') {
            speaks = event.session?.output_modalities[0] === 'audio';
            tell({ type: 'session.updated', session: {} });
          } else if (event['type'] === 'conversation.item.create') tell({ type: 'conversation.item.added', item: {} });
          else if (failsWith !== undefined)
            tell({ type: 'error', error: { type: 'invalid_request_error', code: failsWith, message: 'no: private' } });
          else answer(tell, says, speaks);
        });
      },
    },
  );
  return Object.assign(server, { told });
}

function answer(tell: (event: object) => void, says: string, speaks: boolean): void {
  tell({ type: 'response.created', response: {} });
  const words = speaks ? 'response.output_audio_transcript.delta' : 'response.output_text.delta';
  for (const delta of says.split(/(?<= )/)) tell({ type: words, delta });
  const pcm = speaks ? pcmOf(says, 24_000) : Buffer.alloc(0);
  // Pieces that cut samples in two.
  for (let at = 0; at < pcm.length; at += 4_801) {
    tell({ type: 'response.output_audio.delta', delta: pcm.subarray(at, at + 4_801).toString('base64') });
  }
  const usage = { input_tokens: 60, output_tokens: 40 };
  tell({ type: 'response.done', response: { status: 'completed', status_details: null, usage } });
}
