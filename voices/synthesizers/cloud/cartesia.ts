import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { addressOf, baseUrlSchema } from '../../calls/base-url.ts';
import type { Adapter, EngineContext } from '../../calls/context.ts';
import { readJson, reportedFault } from '../../calls/http-faults.ts';
import { send } from '../../calls/http.ts';
import { pcmBlocksOfMessages, type PcmBlock, type PlacedTimes } from '../../calls/pcm-stream.ts';
import { exchange } from '../../calls/socket-exchange.ts';
import { openSocketPool, type SocketPool } from '../../calls/socket-pool.ts';
import { EngineError, type CallOptions } from '../../engine.ts';
import { speakByPhrase, spokenSampleRate, type RenderOptions } from '../../synthesis/by-phrase.ts';
import { missingVoice, openKnownVoices } from '../../synthesis/known-voices.ts';
import type { SpeechSynthesizer } from '../../synthesizer.ts';
import { languageTags } from '../../text/language-tags.ts';
import { primaryTag } from '../../synthesis/default-clip.ts';

const settings = z.strictObject({
  baseUrl: baseUrlSchema.default('wss://api.cartesia.ai'),
  model: z.string().min(1).default('sonic-3'),
  /** Id of the voice used if the account lacks the requested one: of the library, or cloned. */
  defaultVoice: z.string().min(1).default('6ccbfb76-1fc6-48f7-b71d-91ac6298247b'),
  languages: languageTags.default('en fr de es pt zh ja hi it ko nl pl ru sv tr'.split(' ')),
  /** Additional request fields, such as `{"pronunciation_dict_id": "…"}`. */
  extra: z.record(z.string(), z.unknown()).default({}),
});

export type CartesiaSettings = z.infer<typeof settings>;

/** Version of the API whose errors are objects with a code. */
const apiVersion = '2026-03-01';
/** The server closes idle connections after five minutes. */
const idleMs = 240_000;

/** Its names of our emotions. */
const emotions: Readonly<Record<string, string>> = {
  calm: 'calm',
  cheerful: 'happy',
  tender: 'affectionate',
  sad: 'sad',
  angry: 'angry',
  afraid: 'scared',
  surprised: 'surprised',
};

/** Cartesia's Sonic over its WebSocket: a context for each phrase, with the times of words and sounds in it. */
export const adapter: Adapter<SpeechSynthesizer, CartesiaSettings> = {
  settings,
  callPolicy: () => ({ concurrency: 3 }),
  open(chosen, context) {
    const url = `${addressOf(chosen.baseUrl, '/tts/websocket')}?cartesia_version=${apiVersion}`;
    const pool = openSocketPool(context, () => ({ url, headers: keyOf(context) }), idleMs);
    const isAboutVoice = ({ status = 0 }: EngineError): boolean => status === 400 || status === 404;
    const voices = openKnownVoices(chosen.defaultVoice, isAboutVoice);
    const renderer = {
      languages: chosen.languages,
      maxCharacters: 1_000,
      comesWhole: false,
      times: 'sounds' as const,
      render: (text: string, options: RenderOptions) =>
        voices.speak(options.voice, (voice) => say(text, voice, { chosen, context, pool }, options)),
    };
    return {
      ...speakByPhrase(renderer, context),
      check: (options: CallOptions) => check(chosen, context, options),
      close: async () => pool.close(),
    };
  },
};

interface Site {
  readonly chosen: CartesiaSettings;
  readonly context: EngineContext;
  readonly pool: SocketPool;
}

async function* say(text: string, voice: string, site: Site, options: RenderOptions): AsyncGenerator<PcmBlock> {
  const { chosen, context, pool } = site;
  const { language, speed, emotion = '' } = options;
  const generation = {
    ...(speed !== 1 && { speed: Math.min(1.5, Math.max(0.6, speed)) }),
    ...(emotions[emotion] !== undefined && { emotion: emotions[emotion] }),
  };
  const request = {
    model_id: chosen.model,
    transcript: text,
    voice: { mode: 'id', id: voice },
    ...(language !== undefined && { language: primaryTag(language) }),
    context_id: randomUUID(),
    output_format: { container: 'raw', encoding: 'pcm_s16le', sample_rate: spokenSampleRate },
    add_timestamps: true,
    add_phoneme_timestamps: true,
    continue: false,
    ...(Object.keys(generation).length > 0 && { generation_config: generation }),
    ...chosen.extra,
  };
  const answer = exchange(
    context,
    pool,
    {
      request: [JSON.stringify(request)],
      read: (message) => readMessage(message, context),
      isLast: ({ type }) => type === 'done',
    },
    options,
  );
  yield* pcmBlocksOfMessages(speechIn(answer), { sampleRate: spokenSampleRate });
}

function keyOf({ key }: EngineContext): Readonly<Record<string, string>> {
  return key === undefined ? {} : { 'x-api-key': key };
}

const times = { start: z.array(z.number()), end: z.array(z.number()) };
const messageSchema = z.object({
  type: z.string(),
  data: z.string().optional(),
  word_timestamps: z.object({ words: z.array(z.string()), ...times }).nullish(),
  phoneme_timestamps: z.object({ phonemes: z.array(z.string()), ...times }).nullish(),
  status_code: z.number().optional(),
  error_code: z.string().nullish(),
});
type Message = z.infer<typeof messageSchema>;

function readMessage(text: string | Buffer, context: EngineContext): Message {
  const message = readJson(text.toString(), messageSchema, context, 'a message that is no part of its speech');
  if (message.type === 'error') throw reportedFault(context, message.status_code ?? 500, message.error_code);
  return message;
}

async function* speechIn(answer: AsyncIterable<Message>): AsyncGenerator<Buffer | PlacedTimes> {
  for await (const { data, word_timestamps: words, phoneme_timestamps: phones } of answer) {
    if (words !== undefined && words !== null)
      yield { told: words.words.map((text, index) => ({ text, ...spanAt(words, index) })) };
    if (phones !== undefined && phones !== null)
      yield { sounds: phones.phonemes.map((name, index) => ({ sound: soundOf(name), ...spanAt(phones, index) })) };
    if (data !== undefined && data !== '') yield Buffer.from(data, 'base64');
  }
}

/** A name in brackets is a pause or a mark, and all others are IPA. */
function soundOf(name: string): string {
  return /^[<[]/.test(name) ? '' : name;
}

function spanAt(
  { start, end }: { readonly start: readonly number[]; readonly end: readonly number[] },
  index: number,
): { readonly startMs: number; readonly endMs: number } {
  const startMs = (start[index] ?? 0) * 1000;
  return { startMs, endMs: Math.max(startMs, (end[index] ?? 0) * 1000) };
}

/** Checks that the server accepts the key, and that the account has the default voice. */
async function check(
  { baseUrl, defaultVoice }: CartesiaSettings,
  context: EngineContext,
  options: CallOptions,
): Promise<string> {
  const url = new URL(addressOf(baseUrl, `/voices/${encodeURIComponent(defaultVoice)}`));
  url.protocol = url.protocol.replace(/^ws/, 'http');
  const headers = { ...keyOf(context), 'cartesia-version': apiVersion };
  const reply = await send(context, { url, headers }, options).catch((cause: unknown) => {
    throw cause instanceof EngineError && cause.status === 404 ? missingVoice(context.name, defaultVoice) : cause;
  });
  for await (const _bytes of reply.body);
  return `${url.host} accepts the key, and has the voice “${defaultVoice}”`;
}
