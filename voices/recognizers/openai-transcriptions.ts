import { z } from 'zod';
import { addressOf, baseUrlSchema, bearer } from '../calls/base-url.ts';
import type { Adapter, EngineContext } from '../calls/context.ts';
import { anyObject, badReply, readJson } from '../calls/http-faults.ts';
import { bytesOf, send, sendForBytes, wavForm } from '../calls/http.ts';
import { checkOpenaiModel, onlyModel } from '../calls/openai-models.ts';
import { EngineError, type CallOptions } from '../engine.ts';
import { languageTag, languageTags } from '../text/language-tags.ts';
import type { SpeechRecognizer } from '../recognizer.ts';
import { wavBytes } from '../dsp/wav.ts';
import { recognizeByPiece, type DecodeOptions, type PieceTranscript } from '../recognition/by-piece.ts';
import { readTranscript } from '../recognition/transcript-events.ts';
import { languageTagOf, whisperLanguages } from '../text/whisper-languages.ts';
import { mean } from '../dsp/statistics.ts';

interface Dialect {
  readonly path: string;
  readonly place: 'base' | 'root';
  /** True if the server can report its confidence (`verbose_json`). */
  readonly verbose: boolean;
  readonly concurrency: number;
  /** True to request partials during speech: if requests cost nothing and do not wait for each other. */
  readonly partials: boolean;
  /** True if the server can stream the text while it decodes (server-sent events); it may still send it all at once. */
  readonly streams: boolean;
  /** True if a request must name a model. If none is set, it is the only one that the server lists. */
  readonly needsModel: boolean;
  /** Value of `language` if the language is unknown, to us or to Whisper; absent: none, or the asked one, is sent. */
  readonly unknownLanguage?: string;
}

const usual = {
  path: '/audio/transcriptions',
  place: 'base',
  verbose: true,
  concurrency: 4,
  partials: true,
  streams: false,
  needsModel: false,
} as const;

const dialects = {
  openai: { ...usual, verbose: false, concurrency: 8, partials: false, streams: true, needsModel: true },
  speaches: { ...usual, needsModel: true },
  vllm: { ...usual, verbose: false, concurrency: 32, streams: true },
  xinference: { ...usual, needsModel: true },
  funasr: { ...usual, verbose: false },
  // Handles one request at a time, and assumes English by default.
  'whisper-cpp': {
    ...usual,
    path: '/inference',
    place: 'root',
    concurrency: 1,
    partials: false,
    unknownLanguage: 'auto',
  },
} as const satisfies Readonly<Record<string, Dialect>>;

type DialectName = keyof typeof dialects;

const settings = z.strictObject({
  /** Base URL including the API version if the server has one, such as `http://127.0.0.1:8000/v1`. */
  baseUrl: baseUrlSchema,
  model: z.string().min(1).optional(),
  dialect: z.enum(Object.keys(dialects) as [DialectName, ...DialectName[]]).default('openai'),
  /** Language if the session does not know it: a BCP 47 primary tag. */
  language: languageTag.optional(),
  /** Languages that the model understands; default: Whisper's. */
  languages: languageTags.default(whisperLanguages),
  /** Words to expect, such as names. */
  prompt: z.string().min(1).optional(),
  /** `verbose`, `partials` and `streams` override the defaults of the dialect. */
  verbose: z.boolean().optional(),
  partials: z.boolean().optional(),
  streams: z.boolean().optional(),
  /** Silence after which the utterance may be over, in milliseconds. */
  pauseMs: z.number().int().min(32).max(2_000).default(128),
  /** Additional form fields, such as `{"hotwords": "Baskerville"}`. */
  extra: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).default({}),
});

export type OpenaiTranscriptionsSettings = z.infer<typeof settings>;

/** Timeout for a model that has to be loaded first. */
const warmUpMs = 180_000;

/** Speech recognition by any server with OpenAI's transcription route, or whisper.cpp's. */
export const adapter: Adapter<SpeechRecognizer, OpenaiTranscriptionsSettings> = {
  settings,
  callPolicy: ({ dialect }) => ({ concurrency: dialects[dialect].concurrency, timeouts: { firstByteMs: 30_000 } }),
  open(chosen, context) {
    const dialect: Dialect = dialects[chosen.dialect];
    const { verbose = dialect.verbose, streams = dialect.streams } = chosen;
    let server = { ...dialect, ...chosen, verbose, streams };
    let knowsModel = chosen.model !== undefined || !dialect.needsModel;
    const chooseModel = async (options: CallOptions): Promise<void> => {
      if (knowsModel) return;
      server = { ...server, model: await onlyModel(context, chosen.baseUrl, options) };
      knowsModel = true;
    };
    const decoder = {
      languages: chosen.languages,
      partials: chosen.partials ?? dialect.partials,
      pauseMs: chosen.pauseMs,
      async decode(samples: Float32Array, options: DecodeOptions) {
        await chooseModel(options);
        return transcribe(samples, server, context, options);
      },
    };
    return {
      ...recognizeByPiece(decoder, context),
      async check(options: CallOptions) {
        if (chosen.dialect === 'whisper-cpp') return checkWhisperCpp(context, chosen.baseUrl, options);
        await chooseModel(options);
        return checkOpenaiModel(context, { baseUrl: chosen.baseUrl, model: chosen.model }, options);
      },
      async warm(options: CallOptions) {
        await chooseModel(options);
        const patient = { ...context, timeouts: { ...context.timeouts, firstByteMs: warmUpMs } };
        await transcribe(new Float32Array(16_000), server, patient, { ...options, onText: () => undefined });
      },
    };
  },
};

type Server = Omit<Dialect, 'partials'> & Omit<OpenaiTranscriptionsSettings, 'verbose' | 'streams'>;

async function transcribe(
  samples: Float32Array,
  server: Server,
  context: EngineContext,
  options: Omit<DecodeOptions, 'meter'>,
): Promise<PieceTranscript> {
  const form = wavForm({}, 'file', await wavBytes(samples, 16_000), 'speech.wav');
  const asked = options.language?.toLowerCase().split('-')[0] ?? server.language;
  const isKnown = asked !== undefined && whisperLanguages.includes(asked);
  const language = isKnown ? asked : (server.unknownLanguage ?? asked);
  const fields = {
    model: server.model,
    language,
    prompt: server.prompt,
    response_format: server.verbose ? 'verbose_json' : 'json',
    temperature: 0,
    ...(server.streams ? { stream: true } : {}),
    ...server.extra,
  };
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) form.set(name, String(value));
  const request = { url: addressOf(server.baseUrl, server.path, server.place), form, headers: bearer(context.key) };
  const reply = await send(context, request, options);
  if (/event-stream/.test(reply.headers['content-type'] ?? '')) {
    return { text: (await readTranscript(reply.body, context, options.onText)).trim() };
  }
  return heardIn(await bytesOf(reply, context), context);
}

interface Segment {
  readonly text: string;
  readonly logProbability: number | undefined;
  readonly noSpeech: number;
}

/** Thresholds of Whisper's authors for a segment of silence. */
const likelySilence = { noSpeech: 0.6, logProbability: -1 };

function heardIn(body: Buffer, context: EngineContext): PieceTranscript {
  const reply = readJson(body.toString('utf8'), anyObject, context, 'invalid JSON');
  if (typeof reply['text'] !== 'string') throw badReply(context, 'JSON without "text"');
  const segments = Array.isArray(reply['segments']) ? reply['segments'].map(segmentOf) : [];
  const spoken = segments.filter(
    ({ noSpeech, logProbability = 0 }) =>
      noSpeech <= likelySilence.noSpeech || logProbability >= likelySilence.logProbability,
  );
  const whole = segments.length === 0 || spoken.length === segments.length;
  const text = whole
    ? reply['text'].trim()
    : spoken
        .map((segment) => segment.text)
        .join('')
        .trim();
  const sure = spoken.flatMap(({ logProbability }) => (logProbability === undefined ? [] : [logProbability]));
  const confidence = sure.length === 0 ? undefined : Math.exp(mean(sure));
  return { text, language: languageTagOf(reply['language']), confidence };
}

function segmentOf(value: unknown): Segment {
  const { text, avg_logprob: logProbability, no_speech_prob: noSpeech } = (value ?? {}) as Record<string, unknown>;
  return {
    text: typeof text === 'string' ? text : '',
    logProbability: typeof logProbability === 'number' && logProbability <= 0 ? logProbability : undefined,
    noSpeech: typeof noSpeech === 'number' ? noSpeech : 0,
  };
}

/** Checks whisper.cpp's server, whose error handler turns the 503 of a loading model into a 404. */
async function checkWhisperCpp(context: EngineContext, baseUrl: string, options: CallOptions): Promise<string> {
  try {
    await sendForBytes(context, { url: addressOf(baseUrl, '/health', 'root') }, options);
    return `${new URL(baseUrl).host} has loaded its model`;
  } catch (cause) {
    if (!(cause instanceof EngineError) || (cause.status !== 404 && cause.status !== 503)) throw cause;
    const detail = 'the server is still loading its model. Try again in a minute.';
    throw new EngineError(context.name, 'ENGINE_UNAVAILABLE', detail);
  }
}
