import { openEngineServer, type EngineServer, type Route } from './engine-server.ts';
import type { Answer } from './faults.ts';
import { pcmOf } from '../server-audio.ts';

/**
 * CosyVoice's FastAPI server: raw audio without a content type, and status 200 whatever happens, except for a missing
 * field.
 */
export async function openCosyvoiceServer(
  options: {
    readonly sampleRate?: number;
    /** Its preset voices. */
    readonly voices?: readonly string[];
    /** True: fails to read any clip, as it has since December 2025. */
    readonly readsNoClips?: boolean;
  } = {},
): Promise<EngineServer> {
  const { sampleRate = 24_000, voices = [], readsNoClips = false } = options;
  const speaking =
    (...fields: readonly string[]): Route =>
    async (request) => {
      const form = await request.form();
      const missing = fields.filter((name) => form.get(name) === null);
      if (missing.length > 0) return lacks(missing);
      const speaker = form.get('spk_id');
      if (typeof speaker === 'string' && !voices.includes(speaker)) return { body: [] };
      if (readsNoClips && form.get('prompt_wav') !== null) return { body: [] };
      const pcm = pcmOf(form.get('tts_text') as string, sampleRate);
      return { body: [pcm.subarray(0, 2_222), pcm.subarray(2_222)] };
    };
  return openEngineServer({
    'POST /inference_sft': speaking('tts_text', 'spk_id'),
    'POST /inference_zero_shot': speaking('tts_text', 'prompt_text', 'prompt_wav'),
    'POST /inference_cross_lingual': speaking('tts_text', 'prompt_wav'),
    'POST /inference_instruct2': speaking('tts_text', 'instruct_text', 'prompt_wav'),
    'GET /openapi.json': () => ({
      headers: { 'content-type': 'application/json' },
      body: '{"openapi":"3.1.0","paths":{"/inference_zero_shot":{}}}',
    }),
  });
}

function lacks(fields: readonly string[]): Answer {
  const detail = fields.map((name) => ({ type: 'missing', loc: ['body', name], msg: 'Field required', input: null }));
  return { status: 422, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ detail }) };
}
