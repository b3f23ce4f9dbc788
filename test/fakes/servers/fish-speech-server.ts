import { openEngineServer, type EngineServer, type SeenRequest } from './engine-server.ts';
import type { Answer } from './faults.ts';
import { pcmOf } from '../server-audio.ts';

export interface FishSpeechServer extends EngineServer {
  /** The voice of each text: an id whose folder has a clip, or `any` for a voice of the model's choice. */
  readonly spokenAs: string[];
  /** Empties the folder of clips, as when a container without a volume is replaced. */
  loseClips(): void;
}

/**
 * fish-speech's API server: raw audio labelled as WAV, voices by registered id, MessagePack unless JSON is requested. To
 * speak with an unknown id it makes an empty folder, in whose place it takes no clip afterwards.
 */
export async function openFishSpeechServer(
  options: {
    /** Voices registered beforehand. */
    readonly voices?: readonly string[];
    readonly sampleRate?: number;
  } = {},
): Promise<FishSpeechServer> {
  const voices = new Set(options.voices);
  const folders = new Set(voices);
  const spokenAs: string[] = [];
  const server = await openEngineServer({
    'GET /v1/health': (request) => answer(request, { status: 'ok' }),
    'GET /v1/references/list': (request) =>
      answer(request, { success: true, reference_ids: [...voices], message: 'Success' }),
    'POST /v1/references/add': async (request) => {
      const form = await request.form();
      const id = form.get('id');
      const text = form.get('text');
      if (typeof id !== 'string' || !(form.get('audio') instanceof File) || typeof text !== 'string')
        return answer(request, { success: false, message: 'Bad request' }, 400);
      if (text.trim() === '')
        return answer(request, { success: false, message: 'Reference text cannot be empty' }, 400);
      if (folders.has(id)) return answer(request, { success: false, message: 'exists' }, 409);
      voices.add(id);
      folders.add(id);
      return answer(request, { success: true, message: 'added', reference_id: id });
    },
    'DELETE /v1/references/delete': (request) => {
      const id = String(request.json()['reference_id']);
      if (!folders.delete(id)) return answer(request, { success: false, message: 'not found' }, 404);
      voices.delete(id);
      return answer(request, { success: true, message: 'deleted', reference_id: id });
    },
    'POST /v1/tts': (request) => {
      if (request.headers['content-type'] !== 'application/json') return answer(request, { statusCode: 415 }, 415);
      const { text, streaming, format, reference_id: id } = request.json();
      if (streaming === true && format !== 'wav')
        return answer(request, { statusCode: 400, message: 'Streaming only supports WAV format' }, 400);
      if (typeof id === 'string') folders.add(id);
      spokenAs.push(typeof id === 'string' && voices.has(id) ? id : 'any');
      const pcm = pcmOf(String(text), options.sampleRate ?? 44_100);
      return { headers: { 'content-type': 'audio/wav' }, body: [pcm.subarray(0, 4_097), pcm.subarray(4_097)] };
    },
  });
  return Object.assign(server, {
    spokenAs,
    loseClips() {
      voices.clear();
      folders.clear();
    },
  });
}

function answer(request: SeenRequest, value: unknown, status = 200): Answer {
  if (request.headers.accept !== 'application/json' && status === 200)
    return { headers: { 'content-type': 'application/msgpack' }, body: Buffer.from([0x81, 0xa6]) };
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) };
}
