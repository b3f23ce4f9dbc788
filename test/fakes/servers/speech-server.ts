import { openEngineServer, type EngineServer, type Route } from './engine-server.ts';
import type { Answer } from './faults.ts';
import { pcmOf, wavHeader, wavOf } from '../server-audio.ts';

/** Audio formats of the in-test servers. `asked`: headerless or WAV, as requested, which is what most servers do. */
export type SpeechShape =
  | 'asked'
  | 'pcm'
  | 'wav'
  | 'wav-open'
  | 'sse'
  | 'sse-wav-each'
  | 'sse-misaligned'
  | 'captioned';

/**
 * Opens a server with OpenAI's speech route, and the routes that compatible servers have besides it. Rejects voices it
 * was not given.
 */
export async function openSpeechServer(
  options: {
    readonly shape?: SpeechShape;
    readonly sampleRate?: number;
    readonly voices?: readonly string[];
    /** Like speaches: an unknown voice gets 200, and the connection is cut; the model lists its voices. */
    readonly listsVoices?: boolean | undefined;
    /** Status for a request without the field `model`, which many servers require. */
    readonly withoutModel?: number | undefined;
    /** Status for an unknown voice. */
    readonly unknownVoice?: number;
  } = {},
): Promise<EngineServer> {
  const {
    shape = 'pcm',
    sampleRate = 24_000,
    voices = [],
    listsVoices = false,
    withoutModel,
    unknownVoice = 404,
  } = options;
  const sound = (text: string, format?: unknown): Answer => {
    if (shape !== 'asked') return answerOf(shape, text, sampleRate);
    return answerOf(format === 'pcm' ? 'pcm' : 'wav-open', text, sampleRate);
  };
  const known = [...voices];
  const json: Route = (request) => {
    const { input, text, voice, references, response_format: format } = request.json();
    if (withoutModel !== undefined && request.json()['model'] !== 'small-voice')
      return { status: withoutModel, headers: { 'content-type': 'application/json' }, body: '{"detail":"model"}' };
    // SGLang-Omni opens the path of a clip on its own disk.
    if (JSON.stringify(references ?? []).includes('"data:')) return { status: 500, body: 'no such file' };
    if (typeof voice === 'string' && voices.length > 0 && !known.includes(voice)) {
      if (listsVoices) return { headers: { 'content-type': 'audio/pcm' }, fails: { kind: 'cut', after: 0 } };
      const headers = { 'content-type': 'application/json' };
      return { status: unknownVoice, headers, body: '{"detail":"voice not found"}' };
    }
    return sound(String(input ?? text), format);
  };
  const form: Route = async (request) => {
    const data = await request.form();
    const text = data.get('input') ?? data.get('text');
    return sound(typeof text === 'string' ? text : '', data.get('response_format'));
  };
  const either: Route = (request) =>
    request.headers['content-type']?.startsWith('multipart/') === true ? form(request) : json(request);
  return openEngineServer({
    'POST /v1/audio/speech': either,
    'POST /audio/speech': json,
    'POST /v1/audio/speech/stream': json,
    'POST /v1/audio/speech/stream/upload': form,
    'POST /clone_voice': form,
    'POST /tts_url': json,
    'POST /dev/captioned_speech': json,
    'POST /upload_reference': async (request) => {
      const file = (await request.form()).get('files');
      if (file instanceof File) known.push(file.name);
      return { headers: { 'content-type': 'application/json' }, body: '{"message":"ok"}' };
    },
    ...(listsVoices && {
      'GET /v1/models/small-voice': () => ({
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ id: 'small-voice', voices: voices.map((name) => ({ name, id: name })) }),
      }),
    }),
    'GET /v1/models': () => ({
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ object: 'list', data: [{ id: 'small-voice', shutdown_date: '2027-01-06' }] }),
    }),
  });
}

function answerOf(shape: Exclude<SpeechShape, 'asked'>, text: string, sampleRate: number): Answer {
  const pcm = pcmOf(text, sampleRate);
  if (shape === 'pcm') return { headers: { 'content-type': 'audio/pcm' }, body: pieces(pcm, 4_001) };
  if (shape === 'wav') return { headers: { 'content-type': 'audio/wav' }, body: wavOf(text, sampleRate) };
  if (shape === 'wav-open') {
    const body = pieces(Buffer.concat([wavHeader(sampleRate, { list: true }), pcm]), 3_333);
    return { headers: { 'content-type': 'audio/wav' }, body };
  }
  if (shape === 'captioned') return { headers: { 'content-type': 'application/json' }, body: captions(text, pcm) };
  return { headers: { 'content-type': 'text/event-stream' }, body: events(shape, pcm, sampleRate) };
}

/** Like Kokoro-FastAPI: two pieces, each with its words and marks, and an empty one at the end. A word takes 60 ms. */
function captions(text: string, pcm: Buffer): string[] {
  const words = text.split(/\s+/).flatMap((word, at) => {
    const [start, end] = [at * 0.06, at * 0.06 + 0.05];
    const tokens = word.match(/[\p{L}\p{N}’'-]+|[^\p{L}\p{N}\s]/gu) ?? [];
    return tokens.map((token) => ({ word: token, start_time: start, end_time: end }));
  });
  const half = Math.ceil(words.length / 2);
  const cutSeconds = words[half]?.start_time ?? 0;
  const cut = 2 * Math.round(24_000 * cutSeconds);
  const line = (audio: Buffer, timestamps: readonly object[]): string =>
    `${JSON.stringify({ audio: audio.toString('base64'), audio_format: 'audio/pcm', timestamps })}\n`;
  return [
    line(pcm.subarray(0, cut), words.slice(0, half)),
    line(pcm.subarray(cut), words.slice(half)),
    line(Buffer.alloc(0), []),
  ];
}

function events(shape: SpeechShape, pcm: Buffer, sampleRate: number): string[] {
  if (shape === 'sse-wav-each') {
    const chunks = pieces(pcm, 4_800).map((piece, index) => {
      const data = Buffer.concat([wavHeader(sampleRate, { dataBytes: piece.length }), piece]).toString('base64');
      const audio = { data, format: 'wav', sample_rate: sampleRate };
      return `data: ${JSON.stringify({ object: 'audio.speech.chunk', index, audio, finish_reason: null })}\n\n`;
    });
    return [
      ...chunks,
      'data: {"object":"audio.speech.chunk","audio":null,"finish_reason":"stop"}\n\n',
      'data: [DONE]\n\n',
    ];
  }
  const texts =
    shape === 'sse-misaligned'
      ? (pcm.toString('base64').match(/.{1,4001}/g) ?? [])
      : pieces(pcm, 4_801).map((piece) => piece.toString('base64'));
  const deltas = texts.map((audio) => {
    const data = JSON.stringify({ type: 'speech.audio.delta', audio });
    return `: ping\r\nevent: speech.audio.delta\r\ndata: ${data}\r\n\r\n`;
  });
  return [...deltas, 'data: {"type":"speech.audio.done","usage":{}}\r\n\r\n'];
}

function pieces(bytes: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  );
}
