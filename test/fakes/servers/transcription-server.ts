import { readWav } from '../../../voices/dsp/wav.ts';
import { whisperLanguages } from '../../../voices/text/whisper-languages.ts';
import { openEngineServer, type EngineServer, type Route, type SeenRequest } from './engine-server.ts';

const json = { 'content-type': 'application/json' };

/** The result of a transcription. */
export interface TranscriptionResult {
  readonly text: string;
  readonly language?: string;
  /** Streaming format of partial results, if the client asks for a stream. Absent: always the whole text at once. */
  readonly events?: 'openai' | 'vllm' | 'speaches';
  /** Segments of `verbose_json`. */
  readonly segments?: readonly Readonly<Record<string, unknown>>[];
}

/** The text as a stream, word by word. */
const eventsOf = {
  *openai(text: string): Generator<string> {
    for (const delta of text.split(/(?= )/)) yield event({ type: 'transcript.text.delta', delta });
    yield event({ type: 'transcript.text.done', text, usage: { type: 'tokens', total_tokens: 9 } });
  },
  *vllm(text: string): Generator<string> {
    for (const content of text.split(/(?= )/))
      yield event({ object: 'transcription.chunk', choices: [{ delta: { content } }] });
    yield event({ object: 'transcription.chunk', choices: [{ delta: {}, finish_reason: 'stop' }] });
    yield 'data: [DONE]\n\n';
  },
  *speaches(text: string): Generator<string> {
    for (const segment of text.split(/(?= )/)) yield event({ text: segment });
  },
} as const;

function event(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

/**
 * Opens a server with OpenAI's transcription route and whisper.cpp's. Returns `hearing` for any audio; rejects files
 * that are not WAV.
 */
export async function openTranscriptionServer(
  hearing: TranscriptionResult | (() => TranscriptionResult) = { text: 'hello there' },
  /** True: refuses a request without the field `model`, as OpenAI, speaches and Xinference do. */
  needsModel = false,
): Promise<EngineServer & { seconds(): Promise<number[]> }> {
  const transcribe: Route = async (request) => {
    const { text, language = 'english', segments, events } = typeof hearing === 'function' ? hearing() : hearing;
    const form = await request.form();
    if (needsModel && form.get('model') !== 'whisper')
      return { status: 422, headers: json, body: '{"detail":"model"}' };
    const asked = form.get('language') ?? 'en';
    // whisper.cpp looks the name of the language up, and crashes the request if there is none.
    if (request.path === '/inference' && ![...whisperLanguages, 'auto'].some((language) => language === asked))
      return { status: 500, body: '500 Internal Server Error\nbasic_string: construction from null is not valid' };
    const file = form.get('file');
    if (!(file instanceof File) || !file.name.endsWith('.wav'))
      return { status: 400, headers: json, body: '{"detail":"no file"}' };
    if (events !== undefined && form.get('stream') === 'true') {
      return { headers: { 'content-type': 'text/event-stream; charset=utf-8' }, body: eventsOf[events](text) };
    }
    const spaced = request.path === '/inference' ? ` ${text}\n` : text;
    if (form.get('response_format') !== 'verbose_json')
      return { headers: json, body: JSON.stringify({ text: spaced }) };
    const whole = segments ?? [{ id: 0, start: 0, end: 1, text: ` ${text}`, avg_logprob: -0.2, no_speech_prob: 0.01 }];
    const body = JSON.stringify({ task: 'transcribe', language, duration: 1, text: spaced, segments: whole });
    return { headers: json, body };
  };
  const server = await openEngineServer({
    'POST /v1/audio/transcriptions': transcribe,
    'POST /inference': transcribe,
    'GET /health': () => ({ headers: json, body: '{"status":"ok"}' }),
    'GET /v1/models': () => ({ headers: json, body: '{"data":[{"id":"whisper"}]}' }),
  });
  const secondsOf = async (request: SeenRequest): Promise<number> => {
    const file = (await request.form()).get('file') as File;
    const { samples, sampleRate } = await readWav(new Uint8Array(await file.arrayBuffer()));
    return samples.length / sampleRate;
  };
  return Object.assign(server, {
    seconds: () => Promise.all(server.requests.filter(({ method }) => method === 'POST').map(secondsOf)),
  });
}
