import { addressOf } from '../calls/base-url.ts';
import { styleInstruction } from '../synthesis/emotion-instruction.ts';
import { wavForm, type HttpRequest } from '../calls/http.ts';
import type { ReferenceVoice } from '../synthesizer.ts';
import type { ReferenceClip } from '../synthesis/reference-clip.ts';

/** Text to synthesize, with its voice and manner. */
export interface SpeechRequest {
  readonly text: string;
  /** One of the server's own voices, if one is wanted and known. */
  readonly voiceId: string | undefined;
  /** Voice to clone, if one is wanted. */
  readonly reference: (ReferenceVoice & { readonly clip: ReferenceClip }) | undefined;
  readonly language: string | undefined;
  readonly speed: number;
  readonly emotion: string | undefined;
}

/** Server with the request settings that its user chose. */
export interface SpeechServer {
  readonly baseUrl: string;
  readonly model: string | undefined;
  /** False: the server makes the whole clip before it sends any. */
  readonly streams: boolean;
  readonly instructions: string | undefined;
  /** Additional body fields, passed unchanged. */
  readonly extra: Readonly<Record<string, unknown>>;
}

/** Differences of a family of servers. */
export interface SpeechDialect {
  /** `upload`: the clip is sent to the server; `server-path`: the server must have it on its disk. */
  readonly clones: 'no' | 'upload' | 'server-path';
  readonly streams: boolean;
  /** `instructions`: a sentence beside the text; `word`: the emotion in its own field. Never a tag in the text. */
  readonly emotions: 'no' | 'instructions' | 'word';
  /** Rate of audio without a header, in hertz. */
  readonly sampleRate: number;
  readonly concurrency: number;
  readonly defaultVoice?: string;
  /** Model if none is set: a name that the server requires and ignores, or `listed`: the only one that it lists. */
  readonly defaultModel?: string;
  /** Status for an unknown voice, besides 400, 404 and 422. */
  readonly unknownVoice?: number;
  /** True: `GET /models/MODEL` lists the model's voices, and only those may be asked for. */
  readonly listsVoices?: boolean;
  /** True: the answer is JSON, a line for each piece of audio, with the times of its words. */
  readonly captions?: boolean;
  /** Maximum length of a text in UTF-16 units; longer texts are split. */
  readonly maxCharacters: number;
  request(order: SpeechRequest, server: SpeechServer): HttpRequest;
  /** Uploads a clip before the first request whose `voiceId` it is. */
  upload?(clip: ReferenceClip, cloneName: string, server: SpeechServer): HttpRequest;
}

const usual = {
  clones: 'no',
  emotions: 'no',
  streams: true,
  sampleRate: 24_000,
  concurrency: 8,
  maxCharacters: 400,
} as const;

/** Returns the body fields that all dialects share. */
function plain({ text, voiceId, speed }: SpeechRequest, { model, extra }: SpeechServer): Record<string, unknown> {
  return {
    ...(model === undefined ? {} : { model }),
    input: text,
    ...(voiceId === undefined ? {} : { voice: voiceId }),
    ...(speed === 1 ? {} : { speed }),
    ...extra,
  };
}

function speech(server: SpeechServer, json: unknown): HttpRequest {
  return { url: addressOf(server.baseUrl, '/audio/speech'), json };
}

/** Returns the instructions field, if the server's settings or the emotion give one. */
function instructed({ emotion }: SpeechRequest, { instructions }: SpeechServer): Record<string, unknown> {
  const manner = styleInstruction(emotion, instructions);
  return manner === undefined ? {} : { instructions: manner };
}

function dataUrl(clip: ReferenceClip): string {
  return `data:audio/wav;base64,${clip.wav.toString('base64')}`;
}

/** Returns the body of vLLM-Omni's route, which the sidecar contract adopts; `streamed` is the format of a stream. */
function withReference(order: SpeechRequest, server: SpeechServer, streamed: 'pcm' | 'wav'): Record<string, unknown> {
  const { reference, speed } = order;
  // Its stream supports normal tempo only.
  const streams = server.streams && speed === 1;
  return {
    ...(reference === undefined ? {} : { ref_audio: dataUrl(reference.clip), ref_text: reference.transcript }),
    ...instructed(order, server),
    response_format: streams ? streamed : 'wav',
    ...(streams ? { stream: true, stream_format: 'audio' } : {}),
    ...plain(order, server),
  };
}

/** Dialects of `POST /v1/audio/speech`, by their names in the engines file. */
export const speechDialects = {
  openai: {
    ...usual,
    emotions: 'instructions',
    defaultModel: 'listed',
    defaultVoice: 'alloy',
    maxCharacters: 1_000,
    request: (order, server) =>
      speech(server, {
        response_format: 'pcm',
        ...instructed(order, server),
        ...plain(order, server),
      }),
  },
  'vllm-omni': {
    ...usual,
    clones: 'upload',
    emotions: 'instructions',
    // Its models speak at 24, 44.1 and 48 kHz: only the header of a WAV states the rate.
    request: (order, server) => speech(server, withReference(order, server, 'wav')),
  },
  sidecar: {
    ...usual,
    emotions: 'instructions',
    clones: 'upload',
    concurrency: 1,
    request: (order, server) =>
      speech(server, {
        ...(order.language === undefined ? {} : { language: order.language }),
        // It states the rate in `x-sample-rate`.
        ...withReference(order, server, 'pcm'),
      }),
  },
  kokoro: {
    ...usual,
    defaultVoice: 'af_heart',
    concurrency: 4,
    request: (order, server) => speech(server, { response_format: 'pcm', stream: true, ...plain(order, server) }),
  },
  // The same server's other route, which tells the times of words.
  'kokoro-captioned': {
    ...usual,
    defaultVoice: 'af_heart',
    concurrency: 4,
    captions: true,
    request: (order, server) => ({
      url: addressOf(server.baseUrl, '/dev/captioned_speech', 'root'),
      json: { response_format: 'pcm', stream: server.streams, return_timestamps: true, ...plain(order, server) },
    }),
  },
  speaches: {
    ...usual,
    defaultModel: 'listed',
    // An unknown voice gets 200, and then the connection is cut.
    listsVoices: true,
    defaultVoice: 'af_heart',
    concurrency: 4,
    request: (order, server) =>
      speech(server, { response_format: 'pcm', sample_rate: 24_000, ...plain(order, server) }),
  },
  flashtts: {
    ...usual,
    clones: 'upload',
    defaultModel: 'listed',
    // Any other voice is read as a clip.
    defaultVoice: 'female',
    // That of Spark-TTS; MegaTTS and Orpheus need the setting.
    sampleRate: 16_000,
    request(order, server) {
      const { reference, text } = order;
      if (reference === undefined)
        return speech(server, { response_format: 'pcm', stream: true, ...plain(order, server) });
      const fields = { text, reference_text: reference.transcript, response_format: 'pcm', stream: 'true' };
      const url = addressOf(server.baseUrl, '/clone_voice', 'root');
      return { url, form: wavForm(fields, 'reference_audio_file', reference.clip.wav) };
    },
  },
  chatterbox: {
    ...usual,
    defaultModel: 'chatterbox',
    defaultVoice: 'Emily.wav',
    clones: 'upload',
    streams: false,
    concurrency: 1,
    request: (order, server) => speech(server, { response_format: 'wav', ...plain(order, server) }),
    upload: (clip, cloneName, server) => ({
      url: addressOf(server.baseUrl, '/upload_reference', 'root'),
      form: wavForm({}, 'files', clip.wav, cloneName),
    }),
  },
  'chatterbox-api': {
    ...usual,
    clones: 'upload',
    concurrency: 1,
    request(order, server) {
      const { reference, text } = order;
      const path = '/audio/speech/stream';
      if (reference === undefined) return { url: addressOf(server.baseUrl, path), json: plain(order, server) };
      const url = addressOf(server.baseUrl, `${path}/upload`);
      return { url, form: wavForm({ input: text }, 'voice_file', reference.clip.wav) };
    },
  },
  indextts: {
    ...usual,
    defaultModel: 'index-tts',
    unknownVoice: 500,
    clones: 'server-path',
    streams: false,
    concurrency: 1,
    request(order, server) {
      const { reference, text } = order;
      if (reference === undefined) return speech(server, plain(order, server));
      const url = addressOf(server.baseUrl, '/tts_url');
      return { url, json: { text, audio_paths: [reference.clip.serverPath], ...server.extra } };
    },
  },
  indextts2: {
    ...usual,
    emotions: 'word',
    clones: 'server-path',
    streams: false,
    concurrency: 1,
    request(order, server) {
      const { reference, text, voiceId, emotion } = order;
      const path = reference === undefined ? voiceId : reference.clip.serverPath;
      const mood = emotion === undefined ? {} : { emo_control_method: 3, emo_text: emotion };
      return {
        url: addressOf(server.baseUrl, '/tts_url'),
        json: { text, spk_audio_path: path, ...mood, ...server.extra },
      };
    },
  },
  idiap: {
    ...usual,
    clones: 'server-path',
    streams: false,
    concurrency: 1,
    request(order, server) {
      const { reference } = order;
      const voiceId = reference === undefined ? order.voiceId : reference.clip.serverPath;
      return speech(server, { response_format: 'wav', ...plain({ ...order, voiceId }, server) });
    },
  },
  'sglang-omni': {
    ...usual,
    clones: 'server-path',
    request: (order, server) =>
      speech(server, {
        response_format: 'wav',
        ...(server.streams ? { stream: true } : {}),
        ...(order.reference === undefined
          ? {}
          : { references: [{ audio_path: order.reference.clip.serverPath, text: order.reference.transcript }] }),
        ...plain(order, server),
      }),
  },
  xinference: {
    ...usual,
    defaultModel: 'listed',
    clones: 'upload',
    streams: false,
    concurrency: 2,
    request(order, server) {
      const { reference } = order;
      const format = server.streams ? { response_format: 'pcm', stream: true } : { response_format: 'wav' };
      if (reference === undefined) return speech(server, { ...format, voice: '', ...plain(order, server) });
      const { extra, ...rest } = server;
      const body = { ...format, voice: '', ...plain(order, { ...rest, extra: {} }) };
      const fields = Object.fromEntries(Object.entries(body).map(([key, value]) => [key, String(value)]));
      const kwargs = JSON.stringify({ prompt_text: reference.transcript, ...extra });
      const url = addressOf(server.baseUrl, '/audio/speech');
      return { url, form: wavForm({ ...fields, kwargs }, 'prompt_speech', reference.clip.wav) };
    },
  },
} as const satisfies Readonly<Record<string, SpeechDialect>>;

export type SpeechDialectName = keyof typeof speechDialects;
