import { openEngineServer, type EngineServer } from './engine-server.ts';
import type { Answer } from './faults.ts';
import { pcmOf, wavOf } from '../server-audio.ts';

/** A sidecar as defined by `voices/synthesizers/sidecar/openapi.json`, with a model at 22.05 kHz unless given. */
export async function openSidecarServer(
  options: {
    readonly voices?: readonly string[];
    readonly isLoading?: boolean;
    readonly sampleRate?: number;
  } = {},
): Promise<EngineServer> {
  const { voices = ['martha'], isLoading = false, sampleRate: rate = 22_050 } = options;
  return openEngineServer({
    'GET /health': () =>
      isLoading
        ? json({ status: 'loading' }, 503)
        : json({ status: 'ok', engine: 'firered-tts', sample_rate: rate, languages: ['en', 'zh'], max_concurrency: 1 }),
    'POST /v1/audio/speech': (request) => {
      const { input, voice, stream, response_format: format } = request.json();
      if (typeof input !== 'string') return refusal(400, 'input is missing');
      if (typeof voice === 'string' && !voices.includes(voice)) return refusal(404, 'no such voice');
      const headers = { 'x-sample-rate': String(rate), 'x-channels': '1' };
      if (format === 'wav') return { headers: { ...headers, 'content-type': 'audio/wav' }, body: wavOf(input, rate) };
      const pcm = pcmOf(input, rate);
      const body = stream === true ? [pcm.subarray(0, 1_111), pcm.subarray(1_111)] : pcm;
      return { headers: { ...headers, 'content-type': 'audio/pcm' }, body };
    },
  });
}

function refusal(status: number, message: string): Answer {
  return json({ error: { message, type: 'invalid_request', param: null, code: null } }, status);
}

function json(value: unknown, status = 200): Answer {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) };
}
