import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { concatSamples, durationMs } from '../../voices/audio.ts';
import { openOpusDecoder, openOpusEncoder, type OpusEncoder } from '../../voices/dsp/opus.ts';
import { Resampler } from '../../voices/dsp/resampler.ts';
import { Queue } from '../../voices/runtime/streams.ts';
import type { SpeechChunk } from '../../voices/synthesizer.ts';
import type { Character } from '../../characters/character.ts';
import { OpusFrames } from '../client/audio/opus-frames.js';
import type { Journal } from '../journal/journal.ts';
import type { FeltPhrase, KeptSound, ReplyOptions, Responder, ScriptPhrase } from '../session/contract/responder.ts';
import { followPhrases } from './script.ts';

const sampleRate = 24_000;
/** Frames encoded at a stretch: about a millisecond of work. */
const framesAtOnce = 10;

type Speak = (said: AsyncIterable<FeltPhrase>) => AsyncIterable<SpeechChunk>;

type Keep = (sound: KeptSound) => void;

/** Phrases that every process says with the same samples are not kept. */
interface Repeatable {
  readonly isRepeatable: (phrase: ScriptPhrase) => boolean;
  /** For tests. */
  readonly openEncoder?: typeof openOpusEncoder;
}

interface Responders {
  responderFor(character: Character): Responder;
}

/** Returns the responders with the sound of their phrases in the journal, if another process reads it. */
export function soundKept(engines: Responders, journal: Journal | undefined): Responders {
  if (journal?.log.isShared !== true) return engines;
  const keepSound: Keep = (sound) =>
    journal.write({ ...sound, type: 'sound', packets: [...sound.packets], pieces: sound.pieces.map(mutable) });
  return {
    responderFor(character) {
      const responder = engines.responderFor(character);
      return {
        ...responder,
        reply(history, options) {
          const { confirmed } = options;
          // Of a speculative reply that is dropped, nothing is kept.
          const keepOnceConfirmed: Keep = (sound) => void confirmed?.then(() => keepSound(sound));
          return responder.reply(history, {
            ...options,
            keepSound: confirmed === undefined ? keepSound : keepOnceConfirmed,
          });
        },
      };
    },
  };
}

const mutable = ({ words, ...piece }: KeptSound['pieces'][number]) => ({
  ...piece,
  ...(words === undefined ? {} : { words: [...words] }),
});

/**
 * Returns a way to speak that reads the sound of each phrase ahead of its listener and keeps it as Opus (5 kB/s), so that
 * another process can say the rest of a phrase with the same sound. A phrase whose sound was kept is said from it.
 */
export function keepingSound(
  speak: Speak,
  options: Pick<ReplyOptions, 'heard' | 'rest' | 'keepSound'> & Repeatable,
): Speak {
  const { heard = '', rest, keepSound, isRepeatable, openEncoder = openOpusEncoder } = options;
  const known = rest?.sound;
  const kept: Speak =
    keepSound === undefined ? speak : (said) => recorded(speak, said, { heard, keepSound, isRepeatable, openEncoder });
  if (known === undefined) return kept;
  return (said) => {
    keepSound?.(known);
    return soundFirst(known, said, rest?.isLast === true ? undefined : kept);
  };
}

/** Says the first phrase from its kept sound, while the rest is made. */
async function* soundFirst(
  sound: KeptSound,
  said: AsyncIterable<FeltPhrase>,
  speak: Speak | undefined,
): AsyncIterable<SpeechChunk> {
  const phrases = said[Symbol.asyncIterator]();
  await phrases.next();
  const others = speak?.({ [Symbol.asyncIterator]: () => phrases })[Symbol.asyncIterator]();
  const second = others?.next();
  second?.catch(() => undefined);
  try {
    const chunks = await chunksOf(sound);
    yield* chunks;
    const laterMs = chunks.reduce((ms, { frame }) => ms + durationMs(frame), 0);
    for (let next = await second; next?.done === false; next = await others?.next()) {
      const { frame } = next.value;
      yield { ...next.value, frame: { ...frame, atMs: frame.atMs + laterMs } };
    }
  } finally {
    // Not awaited: a source in the middle of its work answers only when that is done.
    void others?.return?.().catch(() => undefined);
  }
}

/** Speaks, and keeps each phrase once all of it has come: at most one more is begun while its listener hears it. */
async function* recorded(
  speak: Speak,
  said: AsyncIterable<FeltPhrase>,
  {
    heard,
    keepSound,
    isRepeatable,
    openEncoder,
  }: Required<Repeatable> & { readonly heard: string; readonly keepSound: Keep },
): AsyncIterable<SpeechChunk> {
  const follower = followPhrases<ScriptPhrase>();
  let before = heard;
  async function* noted(): AsyncIterable<FeltPhrase> {
    for await (const phrase of said) {
      follower.handed({ ...phrase, before });
      before += phrase.text;
      yield phrase;
    }
  }
  const speech = speak(noted())[Symbol.asyncIterator]();
  const ready = new Queue<{ readonly chunk: SpeechChunk; readonly taken: () => void }>();
  const state = { isLeft: false };
  const left = Promise.withResolvers<void>();
  const reading = async (): Promise<void> => {
    let recording: Recording | undefined;
    try {
      while (!state.isLeft) {
        const next = await speech.next();
        if (next.done === true) break;
        const chunk = next.value;
        const { phrase, isFirst } = follower.phraseOf(chunk.text);
        const { promise: taken, resolve } = Promise.withResolvers<void>();
        ready.push({ chunk, taken: resolve });
        if (isFirst && phrase !== undefined) {
          if (recording !== undefined) keepSound(await recording.end());
          recording = isRepeatable(phrase) ? undefined : await Recording.open(phrase, openEncoder);
          // A listener that leaves takes no more: the encoder must be closed then, too.
          await Promise.race([taken, left.promise]);
        }
        await recording?.add(chunk);
      }
      if (recording !== undefined && !state.isLeft) keepSound(await recording.end());
    } finally {
      recording?.close();
    }
  };
  reading().then(
    () => ready.end(),
    (reason: unknown) => ready.fail(reason),
  );
  try {
    for await (const { chunk, taken } of ready) {
      taken();
      yield chunk;
    }
  } finally {
    state.isLeft = true;
    left.resolve();
    void speech.return?.().catch(() => undefined);
  }
}

/** The sound of one phrase as it comes. */
class Recording {
  readonly #phrase: ScriptPhrase;
  readonly #encoder: OpusEncoder;
  readonly #frames: OpusFrames;
  readonly #packets: string[] = [];
  readonly #pieces: KeptSound['pieces'][number][] = [];
  #resampler: { readonly from: number; readonly resampler: Resampler } | undefined;
  #isClosed = false;

  private constructor(phrase: ScriptPhrase, encoder: OpusEncoder) {
    this.#phrase = phrase;
    this.#encoder = encoder;
    this.#frames = new OpusFrames(encoder.delaySamples);
  }

  static async open(phrase: ScriptPhrase, openEncoder: typeof openOpusEncoder): Promise<Recording> {
    return new Recording(phrase, await openEncoder(sampleRate, { isLossless: true }));
  }

  async add({ frame, text, words }: SpeechChunk): Promise<void> {
    if (this.#resampler?.from !== frame.sampleRate) {
      // A fallback engine may go on at another rate.
      await this.#encode(this.#frames.push(this.#lastSamples()));
      this.#resampler = { from: frame.sampleRate, resampler: new Resampler(frame.sampleRate, sampleRate) };
    }
    const samples = this.#resampler.resampler.push(frame.samples);
    this.#pieces.push({ text, samples: samples.length, ...(words === undefined ? {} : { words }) });
    await this.#encode(this.#frames.push(samples));
  }

  async end(): Promise<KeptSound> {
    await this.#encode([...this.#frames.push(this.#lastSamples()), ...this.#frames.flush()]);
    const { delaySamples } = this.#encoder;
    this.close();
    const { text, before } = this.#phrase;
    return { before, text, delaySamples, packets: this.#packets, pieces: this.#pieces };
  }

  close(): void {
    if (!this.#isClosed) this.#encoder.close();
    this.#isClosed = true;
  }

  /** Samples that the resampler still holds. */
  #lastSamples(): Float32Array {
    const last = this.#resampler?.resampler.flush() ?? new Float32Array();
    if (last.length > 0) this.#pieces.push({ text: '', samples: last.length });
    return last;
  }

  async #encode(frames: ReturnType<OpusFrames['push']>): Promise<void> {
    for (const [place, { samples }] of frames.entries()) {
      if (place % framesAtOnce === framesAtOnce - 1) await yieldToOthers();
      this.#packets.push(Buffer.from(this.#encoder.encode(samples)).toString('base64'));
    }
  }
}

async function chunksOf({ packets, delaySamples, pieces }: KeptSound): Promise<SpeechChunk[]> {
  const decoder = await openOpusDecoder(sampleRate);
  const decoded = packets.map((packet) => decoder.decode(Buffer.from(packet, 'base64')));
  decoder.close();
  const whole = concatSamples(decoded).map((sample) => Math.max(-1, Math.min(1, sample)));
  let from = 0;
  return pieces.map(({ text, samples, words }) => {
    const frame = {
      samples: whole.slice(delaySamples + from, delaySamples + from + samples),
      sampleRate,
      atMs: (from / sampleRate) * 1000,
    };
    from += samples;
    return { text, frame, ...(words === undefined ? {} : { words }) };
  });
}
