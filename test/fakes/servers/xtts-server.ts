import { openEngineServer, type EngineServer } from './engine-server.ts';
import type { Answer } from './faults.ts';
import { pcmOf, wavHeader } from '../server-audio.ts';

const rate = 24_000;
const languages = ['en', 'es', 'fr', 'de', 'it', 'pt', 'pl', 'tr', 'ru', 'nl', 'cs', 'ar', 'zh-cn', 'ja', 'hu', 'ko'];

interface Presets {
  readonly voices?: readonly string[];
}

/**
 * coqui-ai/xtts-streaming-server: clips become latents, which come back with every request; a language error shows only
 * after status 200.
 */
export async function openCoquiServer({ voices = ['Claribel'] }: Presets = {}): Promise<EngineServer> {
  return openEngineServer({
    'GET /languages': () => json(languages),
    'GET /studio_speakers': () => json(Object.fromEntries(voices.map((name, index) => [name, latents(index)]))),
    'POST /clone_speaker': async (request) => {
      const clip = (await request.form()).get('wav_file');
      return clip instanceof File ? json(latents(0.5)) : json({ detail: 'wav_file: Field required' }, 422);
    },
    'POST /tts_stream': (request) => {
      const { text, language, stream_chunk_size, gpt_cond_latent, speaker_embedding } = request.json();
      const isWhole = Array.isArray(gpt_cond_latent) && Array.isArray(speaker_embedding);
      if (typeof text !== 'string' || typeof stream_chunk_size !== 'string' || !isWhole)
        return json({ detail: [{ type: 'string_type', loc: ['body'] }] }, 422);
      if (!languages.includes(String(language))) return { headers: { 'content-type': 'audio/wav' }, body: [] };
      return speech(text, 'audio/wav');
    },
  });
}

/** daswer123/xtts-api-server: voices by name or path, all parameters in the URL. */
export async function openDaswer123Server({ voices = ['female'] }: Presets = {}): Promise<EngineServer> {
  return openEngineServer({
    'GET /languages': () => json({ languages: { English: 'en' } }),
    'GET /speakers_list': () => json(voices),
    'GET /tts_stream': ({ query }) => {
      const speaker = query.get('speaker_wav') ?? '';
      if (!languages.includes(query.get('language') ?? ''))
        return json({ detail: 'Language code sent is either' }, 400);
      if (!voices.includes(speaker) && !speaker.startsWith('/')) return json({ detail: 'Error: no such speaker' }, 500);
      return speech(query.get('text') ?? '', 'audio/x-wav');
    },
  });
}

function speech(text: string, type: string): Answer {
  const pcm = pcmOf(text, rate);
  const body = [wavHeader(rate, { dataBytes: 0 }), pcm.subarray(0, 2_221), pcm.subarray(2_221)];
  return { headers: { 'content-type': type }, body };
}

function latents(seed: number): Record<string, unknown> {
  const row = Array.from({ length: 1_024 }, () => seed);
  return { gpt_cond_latent: Array.from({ length: 32 }, () => row), speaker_embedding: row.slice(0, 512) };
}

function json(value: unknown, status = 200): Answer {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) };
}
