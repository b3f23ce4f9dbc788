import { createHash } from 'node:crypto';
import { z } from 'zod';
import { addressOf, baseUrlSchema, bearer } from '../calls/base-url.ts';
import { openBase64 } from '../calls/base64-stream.ts';
import type { Adapter, EngineContext } from '../calls/context.ts';
import { anyObject, badReply, readJson } from '../calls/http-faults.ts';
import { send, sendForBytes, sendForJson, type HttpReply, type HttpRequest } from '../calls/http.ts';
import { checkOpenaiModel, onlyModel } from '../calls/openai-models.ts';
import { pcmBlocks, pcmBlocksOfMessages, type PcmBlock, type RawFormat } from '../calls/pcm-stream.ts';
import { linesOf, serverSentEvents } from '../calls/sse.ts';
import { EngineError, type CallOptions } from '../engine.ts';
import { languageTags } from '../text/language-tags.ts';
import type { SpeechSynthesizer } from '../synthesizer.ts';
import { speakByPhrase, type RenderOptions } from '../synthesis/by-phrase.ts';
import {
  speechDialects,
  type SpeechDialect,
  type SpeechDialectName,
  type SpeechRequest,
  type SpeechServer,
} from './openai-speech-dialects.ts';
import { openClips, type ReferenceClip } from '../synthesis/reference-clip.ts';

const names = Object.keys(speechDialects) as [SpeechDialectName, ...SpeechDialectName[]];

const settings = z.strictObject({
  /** Base URL including the API version if the server has one, such as `http://127.0.0.1:8880/v1`. */
  baseUrl: baseUrlSchema,
  model: z.string().min(1).optional(),
  dialect: z.enum(names).default('openai'),
  /** Voice used if the server does not know the requested one. */
  defaultVoice: z.string().min(1).optional(),
  /** True if the server streams audio while it makes it; overrides the dialect's default. */
  streams: z.boolean().optional(),
  /** Rate of audio without a header, in hertz; overrides the dialect's default. */
  sampleRate: z.number().int().min(8_000).max(96_000).optional(),
  /** BCP 47 primary tags of the languages that the model speaks. */
  languages: languageTags.default([]),
  /** Speaking instructions, for models that take them. */
  instructions: z.string().min(1).optional(),
  /** Folder with the reference clips on the server, for servers that read them from their own disk. */
  serverDirectory: z.string().min(1).optional(),
  /** Additional request fields, such as `{"seed": 3}`. */
  extra: z.record(z.string(), z.unknown()).default({}),
});

export type OpenaiSpeechSettings = z.infer<typeof settings>;

/** Speech from any server with OpenAI's speech route, or one close to it; see `speechDialects`. */
export const adapter: Adapter<SpeechSynthesizer, OpenaiSpeechSettings> = {
  settings,
  callPolicy: ({ dialect }) => ({
    concurrency: speechDialects[dialect].concurrency,
    timeouts: { firstByteMs: speechDialects[dialect].streams ? 20_000 : 60_000 },
  }),
  clones: ({ dialect }) => speechDialects[dialect].clones !== 'no',
  open(chosen, context) {
    const dialect: SpeechDialect = speechDialects[chosen.dialect];
    const server: SpeechServer = {
      baseUrl: chosen.baseUrl,
      model: chosen.model ?? (dialect.defaultModel === 'listed' ? undefined : dialect.defaultModel),
      streams: chosen.streams ?? dialect.streams,
      instructions: chosen.instructions,
      extra: chosen.extra,
    };
    const speaker = new Speaker(context, dialect, server, chosen);
    const renderer = {
      languages: chosen.languages,
      maxCharacters: dialect.maxCharacters,
      comesWhole: !server.streams,
      render: (text: string, options: RenderOptions) => speaker.render(text, options),
    };
    return {
      ...speakByPhrase(renderer, context),
      async check(options: CallOptions) {
        if (chosen.model === undefined && dialect.defaultModel === 'listed')
          await onlyModel(context, chosen.baseUrl, options);
        return checkOpenaiModel(context, { ...chosen, model: chosen.model }, options);
      },
    };
  },
};

const modelSchema = z.object({ voices: z.array(z.object({ name: z.string() })).default([]) });

function voicesIn(model: unknown): readonly string[] {
  return modelSchema.safeParse(model).data?.voices.map(({ name }) => name) ?? [];
}

const captionSchema = z.object({
  audio: z.string(),
  /** Seconds from the start of all audio; none for languages whose words the model does not tell. */
  timestamps: z.array(z.object({ word: z.string(), start_time: z.number(), end_time: z.number() })).nullish(),
});

class Speaker {
  readonly #context: EngineContext;
  readonly #dialect: SpeechDialect;
  #server: SpeechServer;
  #hasAskedForModel = false;
  readonly #sampleRate: number;
  readonly #defaultVoice: string | undefined;
  readonly #readClip: ReturnType<typeof openClips>;
  /** Names of the clips that were uploaded. */
  readonly #kept = new Set<string>();
  /** Voices that the server rejected. */
  readonly #unknown = new Set<string>();
  /** Voices that the server lists; undefined until it has been asked. */
  #listed: readonly string[] | undefined;

  constructor(context: EngineContext, dialect: SpeechDialect, server: SpeechServer, chosen: OpenaiSpeechSettings) {
    this.#context = context;
    this.#dialect = dialect;
    this.#server = server;
    this.#sampleRate = chosen.sampleRate ?? dialect.sampleRate;
    this.#defaultVoice = chosen.defaultVoice ?? dialect.defaultVoice;
    this.#readClip = openClips(context.name, {
      mostSeconds: 30,
      ...(dialect.clones === 'server-path' && { onServer: { directory: chosen.serverDirectory } }),
    });
  }

  async *render(text: string, options: RenderOptions): AsyncGenerator<PcmBlock> {
    await this.#chooseModel(options);
    const order = await this.#order(text, options);
    const reply = await this.#ask(order, options);
    yield* this.#soundOf(reply);
  }

  async #chooseModel({ signal }: CallOptions): Promise<void> {
    const isSet = this.#server.model !== undefined || this.#dialect.defaultModel !== 'listed';
    if (isSet || this.#hasAskedForModel) return;
    this.#server = { ...this.#server, model: await onlyModel(this.#context, this.#server.baseUrl, { signal }) };
    this.#hasAskedForModel = true;
  }

  async #order(text: string, options: RenderOptions): Promise<SpeechRequest> {
    const { voice, language, speed } = options;
    const emotion = this.#dialect.emotions === 'no' ? undefined : options.emotion;
    const order = { text, language, speed, emotion };
    if (voice.kind === 'preset') {
      const wanted = this.#unknown.has(voice.id) ? this.#defaultVoice : voice.id;
      return { ...order, voiceId: await this.#listedVoice(wanted, options), reference: undefined };
    }
    if (this.#dialect.clones === 'no') return { ...order, voiceId: this.#defaultVoice, reference: undefined };
    const clip = await this.#readClip(voice, options);
    const reference = { ...voice, transcript: clip.transcript, clip };
    if (this.#dialect.upload === undefined) return { ...order, voiceId: undefined, reference };
    return { ...order, voiceId: await this.#uploaded(clip, options), reference: undefined };
  }

  /** Returns the wanted voice, or one that the model has instead, if the server lists its voices. */
  async #listedVoice(wanted: string | undefined, { signal }: CallOptions): Promise<string | undefined> {
    const { model } = this.#server;
    if (this.#dialect.listsVoices === true && model !== undefined) {
      const request = this.#signed({ url: addressOf(this.#server.baseUrl, `/models/${model}`) });
      this.#listed ??= await sendForJson(this.#context, request, { signal }).then(voicesIn, () => undefined);
      signal.throwIfAborted();
    }
    const has = (id: string | undefined): boolean => id !== undefined && this.#listed?.includes(id) === true;
    return [wanted, this.#defaultVoice].find(has) ?? this.#listed?.[0] ?? wanted;
  }

  /** Uploads the clip unless it is on the server already; returns its name there. */
  async #uploaded(clip: ReferenceClip, { signal }: CallOptions): Promise<string> {
    const cloneName = `${createHash('sha256').update(clip.wav).digest('hex').slice(0, 16)}.wav`;
    const request = this.#dialect.upload?.(clip, cloneName, this.#server);
    if (request === undefined || this.#kept.has(cloneName)) return cloneName;
    await sendForBytes(this.#context, this.#signed(request), { signal });
    this.#kept.add(cloneName);
    return cloneName;
  }

  async #ask(order: SpeechRequest, { signal }: CallOptions): Promise<HttpReply> {
    const ask = (wanted: SpeechRequest): Promise<HttpReply> =>
      send(this.#context, this.#signed(this.#dialect.request(wanted, this.#server)), { signal });
    try {
      return await ask(order);
    } catch (cause) {
      const noVoice = [400, 404, 422, this.#dialect.unknownVoice];
      const isNoVoice = cause instanceof EngineError && cause.status !== undefined && noVoice.includes(cause.status);
      const { voiceId } = order;
      // A restarted server has lost its clips.
      this.#kept.delete(voiceId ?? '');
      if (!isNoVoice || voiceId === undefined || voiceId === this.#defaultVoice) throw cause;
      const reply = await ask({ ...order, voiceId: this.#defaultVoice }).catch(() => {
        signal.throwIfAborted();
        throw cause;
      });
      this.#unknown.add(voiceId);
      return reply;
    }
  }

  #signed(request: HttpRequest): HttpRequest {
    return { ...request, headers: { ...bearer(this.#context.key), ...request.headers } };
  }

  async *#soundOf({ headers, body }: HttpReply): AsyncGenerator<PcmBlock> {
    const type = headers['content-type'] ?? '';
    const raw = { sampleRate: Number(headers['x-sample-rate']) || this.#sampleRate };
    if (this.#dialect.captions === true) yield* this.#captionedSound(body, raw);
    else if (/event-stream/.test(type)) yield* pcmBlocksOfMessages(this.#spokenEvents(body), raw);
    else if (/html|json|text\//.test(type)) throw badReply(this.#context, `${type.split(';')[0]} instead of audio`);
    else yield* pcmBlocks(body, raw);
  }

  /** Kokoro-FastAPI's captions: a JSON object a line, with a piece of audio and the words in it; words may come first. */
  async *#captionedSound(body: AsyncIterable<Buffer>, raw: RawFormat): AsyncGenerator<PcmBlock> {
    let told: NonNullable<PcmBlock['told']>[number][] = [];
    for await (const line of linesOf(body)) {
      if (line === '') continue;
      const piece = readJson(line, captionSchema, this.#context, 'a line that is no captioned speech');
      for (const { word, start_time: start, end_time: end } of piece.timestamps ?? [])
        told.push({ text: word, startMs: start * 1000, endMs: end * 1000 });
      for await (const block of pcmBlocks([Buffer.from(piece.audio, 'base64')], raw)) {
        yield { ...block, ...(told.length > 0 && { told }) };
        told = [];
      }
    }
  }

  /** Audio events: `speech.audio.delta` (OpenAI, vLLM-Omni, Chatterbox) and `audio.speech.chunk` (SGLang-Omni). */
  async *#spokenEvents(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    const base64 = openBase64();
    let isOver = false;
    for await (const { data } of serverSentEvents(body)) {
      if (data === '[DONE]') return;
      const event = readJson(data, anyObject, this.#context, 'invalid JSON in its stream');
      if (event['error'] !== undefined && event['error'] !== null) {
        const detail = 'the server reported an error in its stream. Check its log.';
        throw new EngineError(this.#context.name, 'ENGINE_UNAVAILABLE', detail);
      }
      isOver ||= event['type'] === 'speech.audio.done' || typeof event['finish_reason'] === 'string';
      const audio = event['audio'];
      const piece = typeof audio === 'object' && audio !== null ? (audio as Record<string, unknown>)['data'] : audio;
      if (typeof piece === 'string' && piece !== '') yield base64.decode(piece);
    }
    if (!isOver) throw badReply(this.#context, 'an incomplete stream');
  }
}
