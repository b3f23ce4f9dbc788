import { openEngineServer, type EngineServer } from './engine-server.ts';
import type { Answer } from './faults.ts';
import { pcmOf, wavHeader, wavOf } from '../server-audio.ts';

const languages = ['auto', 'en', 'zh', 'ja', 'ko', 'yue', 'all_zh', 'all_ja', 'all_yue', 'all_ko', 'auto_yue'];

/** GPT-SoVITS's `api_v2.py` with a v2 model: its checks, in its order and wording, and its streaming. */
export async function openGptSovitsServer(
  options: {
    readonly sampleRate?: number;
    /** Clips on the server's disk; any path exists unless given. */
    readonly clips?: readonly string[];
    /** True: the server's output for a text that its cleaner empties. */
    readonly stumbles?: boolean;
  } = {},
): Promise<EngineServer> {
  const { sampleRate = 32_000, clips, stumbles = false } = options;
  return openEngineServer({
    // It calls `text_lang.lower()` before it looks whether there is one.
    'GET /tts': () => ({ status: 500, headers: { 'content-type': 'text/plain' }, body: 'Internal Server Error' }),
    'POST /tts': (request) => {
      const asked = request.json();
      const complaint = complaintAbout(asked);
      if (complaint !== undefined) return refused(complaint);
      const headers = { 'content-type': 'audio/wav' };
      if (stumbles) return { headers, body: [wavHeader(16_000, { dataBytes: 0 }), Buffer.alloc(32_000)] };
      const header = wavHeader(sampleRate, { dataBytes: 0 });
      // The header, then the stream ends early.
      if (clips?.includes(String(asked['ref_audio_path'])) === false) return { headers, body: [header] };
      const text = String(asked['text']);
      if (asked['streaming_mode'] === 0) return { headers, body: wavOf(text, sampleRate) };
      const pcm = pcmOf(text, sampleRate);
      return { headers, body: [header, pcm.subarray(0, 3_333), pcm.subarray(3_333)] };
    },
  });
}

function complaintAbout(asked: Record<string, unknown>): string | undefined {
  for (const field of ['ref_audio_path', 'text', 'text_lang', 'prompt_lang']) {
    if (typeof asked[field] !== 'string' || asked[field] === '') return `${field} is required`;
    if (field.endsWith('_lang') && !languages.includes(asked[field]))
      return `${field}: ${asked[field]} is not supported in version v2`;
  }
  if (!['wav', 'raw', 'ogg', 'aac'].includes(String(asked['media_type']))) return 'media_type: x is not supported';
  if (!/^cut[0-5]$/.test(String(asked['text_split_method']))) return 'text_split_method:x is not supported';
  return [0, 1, 2, 3].includes(Number(asked['streaming_mode']))
    ? undefined
    : 'the value of streaming_mode must be 0, 1, 2, 3';
}

function refused(message: string): Answer {
  return { status: 400, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ message }) };
}
