import { openEngineServer, type EngineServer, type SeenRequest } from './engine-server.ts';
import type { Answer } from './faults.ts';
import { pcmOf } from '../server-audio.ts';

/**
 * fish-speech's API server: raw audio labelled as WAV, voices by registered id, MessagePack unless JSON is requested.
 */
export async function openFishSpeechServer(
  options: {
    /** Voices registered beforehand. */
    readonly voices?: readonly string[];
  } = {},
): Promise<EngineServer> {
  const voices = new Set(options.voices);
  return openEngineServer({
    'GET /v1/health': (request) => answer(request, { status: 'ok' }),
    'GET /v1/references/list': (request) =>
      answer(request, { success: true, reference_ids: [...voices], message: 'Success' }),
    'POST /v1/references/add': async (request) => {
      const form = await request.form();
      const id = form.get('id');
      if (typeof id !== 'string' || !(form.get('audio') instanceof File) || typeof form.get('text') !== 'string')
        return answer(request, { success: false, message: 'Bad request' }, 400);
      if (voices.has(id)) return answer(request, { success: false, message: 'exists' }, 409);
      voices.add(id);
      return answer(request, { success: true, message: 'added', reference_id: id });
    },
    'POST /v1/tts': (request) => {
      if (request.headers['content-type'] !== 'application/json') return answer(request, { statusCode: 415 }, 415);
      const { text, streaming, format } = request.json();
      if (streaming === true && format !== 'wav')
        return answer(request, { statusCode: 400, message: 'Streaming only supports WAV format' }, 400);
      const pcm = pcmOf(String(text), 44_100);
      return { headers: { 'content-type': 'audio/wav' }, body: [pcm.subarray(0, 4_097), pcm.subarray(4_097)] };
    },
  });
}

function answer(request: SeenRequest, value: unknown, status = 200): Answer {
  if (request.headers.accept !== 'application/json' && status === 200)
    return { headers: { 'content-type': 'application/msgpack' }, body: Buffer.from([0x81, 0xa6]) };
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) };
}
