import { z } from 'zod';
import { concatSamples } from '../audio.ts';
import { baseUrlSchema, bearer } from '../calls/base-url.ts';
import type { Meter } from '../calls/calls.ts';
import type { Adapter, EngineContext } from '../calls/context.ts';
import { badReply, brokenOff } from '../calls/http-faults.ts';
import { openSocket, type UpstreamSocket } from '../calls/socket.ts';
import { EngineError, type CallOptions } from '../engine.ts';
import { isOpusHeader, OggFormatError, OggReader, openOggOpusWriter, opusHeadSkip } from '../dsp/ogg-opus.ts';
import type { OmniMessage, OmniModel, OmniOptions, OmniPart } from '../omni.ts';
import { openOpusDecoder, openOpusEncoder, opusFrameMs } from '../dsp/opus.ts';
import { resample } from '../dsp/resampler.ts';
import { DuplexTurn } from './duplex-turn.ts';

const settings = z.strictObject({
  /** Such as `ws://127.0.0.1:8998`. */
  baseUrl: baseUrlSchema,
  /** `personaplex`: NVIDIA's variant, the only one that takes a persona and a voice. */
  dialect: z.enum(['moshi', 'personaplex']).default('moshi'),
  /** PersonaPlex only: file in the server's folder of voices, used if "voices" names none for a character. */
  defaultVoice: z.string().min(1).default('NATF0.pt'),
  /** PersonaPlex only: persona sent at most, in UTF-16 units; the model takes seconds to read it before each reply. */
  personaCharacters: z.number().int().min(0).max(2_000).default(600),
  /** Silence that ends a reply, in milliseconds. */
  endSilenceMs: z.number().int().min(300).max(5_000).default(1_000),
  /** Longest wait for a reply to begin, and longest reply, in milliseconds of the model's own audio. */
  waitMs: z.number().int().min(500).max(60_000).default(8_000),
  mostMs: z.number().int().min(1_000).max(240_000).default(60_000),
  /** Additional query parameters, such as `{"text_temperature": 0.7}`. */
  extra: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).default({}),
});

export type MoshiSettings = z.infer<typeof settings>;

const sampleRate = 24_000;
/** Step of the model: it outputs one frame for each frame of input. */
const frameMs = 80;
const frameSamples = (sampleRate * frameMs) / 1_000;
/** Maximum lead of audio sent over audio received, in frames: over the model's delay, and little computed in vain. */
const framesAhead = 10;
const kinds = { handshake: 0, audio: 1, text: 2, control: 3, metadata: 4, error: 5, ping: 6 } as const;
const kindsBeforeHandshake: ReadonlySet<number> = new Set([kinds.control, kinds.metadata, kinds.ping]);

/**
 * Moshi or PersonaPlex: a full-duplex model, used turn by turn. Each reply is its own conversation: the model gets
 * the user's speech, then silence, and its output up to the first long pause is the reply. It takes neither the
 * conversation history nor text input.
 */
export const adapter: Adapter<OmniModel, MoshiSettings> = {
  settings,
  // The handshake arrives once the server is free and has read the persona.
  callPolicy: () => ({ concurrency: 1 }),
  open: (chosen, context) => ({
    name: context.name,
    async *reply(messages, options) {
      options.signal.throwIfAborted();
      const speech = speechIn(messages);
      if (speech === undefined) {
        const detail = 'this model accepts speech only, and the message is text';
        throw new EngineError(context.name, 'ENGINE_REFUSED', detail);
      }
      const url = urlOf(messages, options, chosen);
      yield* context.calls.stream(
        ({ signal, meter }) => talk(speech, { chosen, context, url, signal, meter, speaks: options.speaks }),
        options,
      );
    },
    async check(options: CallOptions) {
      const url = urlOf([], { ...options, speaks: false }, chosen);
      const socket = await openSocket(context, { url, headers: bearer(context.key) }, options);
      try {
        await handshake(socket, context);
        return `${new URL(chosen.baseUrl).host} accepts conversations`;
      } finally {
        socket.close();
      }
    },
  }),
};

/** Returns the last user message's audio at the model's rate; undefined if it has none. */
function speechIn(messages: readonly OmniMessage[]): Float32Array | undefined {
  const sound = messages.findLast(({ role }) => role === 'user')?.sound;
  return sound === undefined ? undefined : resample(sound.samples, sound.sampleRate, sampleRate);
}

function urlOf(messages: readonly OmniMessage[], { voice }: OmniOptions, chosen: MoshiSettings): URL {
  const url = new URL(`${chosen.baseUrl.replace(/\/+$/, '')}/api/chat`);
  for (const [name, value] of Object.entries(chosen.extra)) url.searchParams.set(name, String(value));
  if (chosen.dialect !== 'personaplex') return url;
  const persona = messages.flatMap(({ role, text }) => (role === 'system' ? [text] : [])).join('\n\n');
  url.searchParams.set('voice_prompt', voice ?? chosen.defaultVoice);
  // Slicing may split a surrogate pair.
  url.searchParams.set('text_prompt', persona.slice(0, chosen.personaCharacters).toWellFormed());
  return url;
}

interface Talk extends CallOptions {
  readonly chosen: MoshiSettings;
  readonly context: EngineContext;
  readonly url: URL;
  readonly meter: Meter;
  readonly speaks: boolean;
}

async function* talk(speech: Float32Array, given: Talk): AsyncGenerator<OmniPart> {
  const input = await openInput(speech);
  const output = await openOutput(given.context);
  try {
    const { context, url, signal } = given;
    const socket = await openSocket(context, { url, headers: bearer(context.key) }, { signal });
    try {
      await handshake(socket, context);
      yield* answer(socket, input, output, { ...given, userMs: (speech.length / sampleRate) * 1_000 });
    } finally {
      socket.close();
    }
  } finally {
    input.close();
    output.close();
  }
}

async function* answer(
  socket: UpstreamSocket,
  input: MoshiInput,
  output: MoshiOutput,
  { chosen, context, meter, speaks, userMs }: Talk & { readonly userMs: number },
): AsyncGenerator<OmniPart> {
  const { endSilenceMs, waitMs, mostMs } = chosen;
  const turn = new DuplexTurn(sampleRate, { userMs, endSilenceMs, waitMs, mostMs });
  let heardSamples = 0;
  let words = 0;
  let soundMs = 0;
  while (turn.end === undefined) {
    input.speak(socket, heardSamples / frameSamples + framesAhead);
    for (const said of output.take(await nextMessage(socket, context))) {
      if (typeof said !== 'string') heardSamples += said.length;
      for (const part of typeof said === 'string' ? turn.pushText(said) : turn.pushAudio(said)) {
        if (part.type === 'text-delta') meter.outputTokens = words += 1;
        if (part.type !== 'sound') yield part;
        else if (speaks) {
          soundMs += (part.samples.length / sampleRate) * 1_000;
          meter.audioSeconds = Math.round(soundMs) / 1_000;
          yield part;
        }
      }
    }
  }
  if (turn.end === 'nothing' || (speaks && soundMs === 0)) {
    const detail = `the model did not speak within ${waitMs / 1_000} s after the user's speech`;
    throw new EngineError(context.name, 'ENGINE_BAD_REPLY', detail);
  }
  yield { type: 'omni-end', reason: turn.end, inputTokens: 0, outputTokens: words };
}

/**
 * Waits for the server's handshake, before which nothing may be sent; a busy server withholds it. The Rust server sends
 * its metadata first.
 */
async function handshake(socket: UpstreamSocket, context: EngineContext): Promise<void> {
  const { firstByteMs } = context.timeouts;
  const untilMs = performance.now() + firstByteMs;
  const greeting = (): Promise<Buffer> => nextMessage(socket, context, Math.max(1, untilMs - performance.now()));
  try {
    for (;;) {
      const [kind] = await greeting();
      if (kind === kinds.handshake) return;
      if (kind === kinds.error) throw modelFailed(context);
      if (kind === undefined || !kindsBeforeHandshake.has(kind))
        throw badReply(context, 'a message before its greeting');
    }
  } catch (cause) {
    if (!(cause instanceof EngineError) || cause.code !== 'ENGINE_TIMEOUT') throw cause;
    const detail = `no greeting within ${firstByteMs / 1_000} s. It serves one conversation at a time. Is it busy with another?`;
    throw new EngineError(context.name, 'ENGINE_TIMEOUT', detail);
  }
}

function modelFailed(context: EngineContext): EngineError {
  return new EngineError(context.name, 'ENGINE_UNAVAILABLE', 'the model reported an error. Check its log.');
}

async function nextMessage(
  socket: UpstreamSocket,
  context: EngineContext,
  limitMs = context.timeouts.betweenBytesMs,
): Promise<Buffer> {
  const message = await socket.receive(limitMs);
  if (message === undefined) throw brokenOff(context);
  if (typeof message === 'string' || message.length === 0) throw badReply(context, 'an unknown message');
  return message;
}

/** Input of the model: the user's speech, then endless silence. */
interface MoshiInput {
  speak(socket: UpstreamSocket, upToFrames: number): void;
  close(): void;
}

async function openInput(speech: Float32Array): Promise<MoshiInput> {
  const encoder = await openOpusEncoder(sampleRate, { isLossless: true });
  const ogg = openOggOpusWriter(sampleRate, encoder.delaySamples);
  let frames = 0;
  const soundOf = (frame: number): Float32Array => {
    // The model ignores the first frame, so it carries no speech.
    const from = (frame - 1) * frameSamples;
    const sound = frame === 0 ? new Float32Array(0) : speech.subarray(from, from + frameSamples);
    return concatSamples([sound, new Float32Array(frameSamples - sound.length)]);
  };
  return {
    speak(socket, upToFrames) {
      const send = (bytes: Buffer): void => socket.send(Buffer.concat([Buffer.of(kinds.audio), bytes]));
      if (frames === 0) send(ogg.head());
      for (; frames < upToFrames; frames += 1) {
        const sound = soundOf(frames);
        const packets: Uint8Array[] = [];
        for (let at = 0; at < sound.length; at += encoder.frameSamples) {
          packets.push(encoder.encode(sound.subarray(at, at + encoder.frameSamples)));
        }
        send(ogg.page(packets, opusFrameMs));
      }
    },
    close: () => encoder.close(),
  };
}

/** Decoder of the model's output: text as strings, audio as samples. */
interface MoshiOutput {
  take(message: Buffer): readonly (string | Float32Array)[];
  close(): void;
}

async function openOutput(context: EngineContext): Promise<MoshiOutput> {
  const decoder = await openOpusDecoder(sampleRate);
  const ogg = new OggReader();
  let skip = 0;
  const samplesOf = (packet: Buffer): Float32Array => {
    skip = Math.round(((opusHeadSkip(packet) ?? 0) * sampleRate) / 48_000) || skip;
    if (isOpusHeader(packet)) return new Float32Array(0);
    const samples = decoder.decodeWhole(packet);
    if (samples === undefined) throw badReply(context, 'audio that is not Opus');
    const skipped = Math.min(skip, samples.length);
    skip -= skipped;
    return samples.slice(skipped);
  };
  return {
    take(message) {
      const body = message.subarray(1);
      switch (message[0]) {
        case kinds.text:
          return [body.toString('utf8')];
        case kinds.error:
          throw modelFailed(context);
        case kinds.audio:
          try {
            return ogg.push(body).map(samplesOf);
          } catch (cause) {
            throw cause instanceof OggFormatError ? badReply(context, 'audio that is not an Ogg stream') : cause;
          }
        default:
          // Other message types are for richer clients or future versions.
          return [];
      }
    },
    close: () => decoder.close(),
  };
}
