import { createHash } from 'node:crypto';
import type { ChatModel, ChatPart } from '../../agents/chat.ts';
import { concatSamples, type AudioFrame } from '../../voices/audio.ts';
import { EngineError } from '../../voices/engine.ts';
import type { SpeechRecognizer, TranscriptPart } from '../../voices/recognizer.ts';
import type { Phrase, SpeakOptions, SpeechChunk, SpeechSynthesizer, Voice } from '../../voices/synthesizer.ts';
import { ConfigError } from '../config/config.ts';
import { keyOf, notRecorded, openTape, type Answer, type Tape } from './tape.ts';

/** The stages that a tape takes the place of, as far as it needs to know them. */
interface Stages<Speaking extends { readonly speech: unknown }> {
  readonly asr: { readonly recognizer: SpeechRecognizer };
  readonly llm: { readonly models: readonly { readonly model: ChatModel }[] };
  readonly omnis: { readonly name: string };
  readonly tts: {
    voiceOf(character: Speaking): { readonly synthesizer: SpeechSynthesizer; readonly voice: Voice };
  };
}

/** Returns the stages on the tape in a file: they record their answers, or play those that are recorded. */
export function onTape<Speaking extends { readonly speech: unknown }, Some extends Stages<Speaking>>(
  stages: Some & Stages<Speaking>,
  file: string,
): Some {
  if (stages.omnis.name !== '')
    throw new ConfigError('DRAMATIS_CASSETTE cannot record an omni model. Configure ASR, LLM and TTS in its place.');
  const tape = openTape(file);
  const { asr, llm, tts } = stages;
  return {
    ...stages,
    asr: { ...asr, recognizer: tapedRecognizer(asr.recognizer, tape) },
    llm: { ...llm, models: llm.models.map((one) => ({ ...one, model: tapedModel(one.model, tape) })) },
    tts: {
      ...tts,
      voiceOf(character: Speaking) {
        const { synthesizer, voice } = tts.voiceOf(character);
        return { synthesizer: tapedSynthesizer(synthesizer, character.speech, tape), voice };
      },
    },
  };
}

function tapedModel(model: ChatModel, tape: Tape): ChatModel {
  const { name } = model;
  return {
    name,
    chat(messages, { signal, background: _whenever, ...settings }) {
      const key = keyOf(name, messages, settings);
      if (tape.plays) return played<ChatPart>(() => tape.next('llm', key, name), signal);
      const made = (whole: AbortSignal): AsyncIterable<ChatPart> =>
        model.chat(messages, { ...settings, signal: whole });
      return recorded(made, signal, (answer) => tape.add('llm', key, { engine: name, ...answer }));
    },
  };
}

/** A chunk of speech in a line of JSON: samples are 32-bit floats, little-endian, in base64. */
type KeptChunk = Omit<SpeechChunk, 'frame'> & {
  readonly atMs: number;
  readonly sampleRate: number;
  readonly samples: string;
};

function tapedSynthesizer(synthesizer: SpeechSynthesizer, style: unknown, tape: Tape): SpeechSynthesizer {
  const { name } = synthesizer;
  return {
    ...synthesizer,
    // One phrase after the other: the answer to a phrase does not depend on other phrases.
    async *speak(phrases, options) {
      const { signal, voice, language, speed, seed } = options;
      let beforeMs = 0;
      for await (const phrase of phrases) {
        const key = keyOf(name, style, nameOf(voice), language, speed, seed, phrase);
        const made = (whole: AbortSignal): AsyncIterable<KeptChunk> =>
          kept(synthesizer, phrase, { ...options, signal: whole });
        const chunks = tape.plays
          ? played<KeptChunk>(() => tape.next('tts', key, name), signal)
          : recorded(made, signal, (answer) => tape.add('tts', key, { engine: name, ...answer }));
        let endMs = beforeMs;
        for await (const { atMs, sampleRate, samples, ...chunk } of chunks) {
          const frame = { samples: floatsIn(samples), sampleRate, atMs: beforeMs + atMs };
          endMs = frame.atMs + (frame.samples.length / sampleRate) * 1000;
          yield { ...chunk, frame };
        }
        beforeMs = endMs;
      }
    },
  };
}

async function* kept(synthesizer: SpeechSynthesizer, phrase: Phrase, options: SpeakOptions): AsyncGenerator<KeptChunk> {
  async function* alone(): AsyncGenerator<Phrase> {
    yield phrase;
  }
  for await (const { frame, ...chunk } of synthesizer.speak(alone(), options)) {
    const { samples, sampleRate, atMs } = frame;
    yield { ...chunk, atMs, sampleRate, samples: bytesOf(samples).toString('base64') };
  }
}

/** A voice without its place on this machine. */
function nameOf(voice: Voice): object {
  if (voice.kind === 'preset') return voice;
  const { kind, id, transcript, language } = voice;
  return { kind, id, transcript, language };
}

/** A transcript, and how much of the utterance had been heard when it came: samples, and their hash. */
interface Heard {
  readonly part: TranscriptPart;
  readonly samples: number;
  readonly hash: string;
}

function tapedRecognizer(recognizer: SpeechRecognizer, tape: Tape): SpeechRecognizer {
  const { name } = recognizer;
  return {
    ...recognizer,
    async *transcribe(audio, options) {
      const sound = new Sound();
      if (tape.plays) {
        yield* transcripts(tape, sound, audio, { name, signal: options.signal });
        return;
      }
      const parts: Heard[] = [];
      for await (const part of recognizer.transcribe(sound.listenTo(audio), options)) {
        parts.push({ part, ...sound.mark(sound.length) });
        yield part;
      }
      tape.add('asr', sound.mark(sound.length).hash, { engine: name, parts });
    },
  };
}

/** Yields the transcripts of the recorded utterance that sounds like this one, each at its sample. */
async function* transcripts(
  tape: Tape,
  sound: Sound,
  audio: AsyncIterable<AudioFrame>,
  { name, signal }: { readonly name: string; readonly signal: AbortSignal },
): AsyncGenerator<TranscriptPart> {
  let candidates = tape.all('asr').map(({ parts }) => parts as readonly Heard[]);
  let told = 0;
  for await (const _ of sound.listenTo(audio)) {
    for (;;) {
      candidates = candidates.filter((parts) => fits(parts[told], sound));
      const due = candidates.map((parts) => parts[told]).find((next) => next !== undefined && isDue(next, sound));
      if (due === undefined) break;
      told += 1;
      yield due.part;
    }
  }
  signal.throwIfAborted();
  const { hash, samples } = sound.mark(sound.length);
  const whole = candidates.find((parts) => parts.at(-1)?.hash === hash && parts.at(-1)?.samples === samples);
  if (whole === undefined) throw notRecorded(name);
  for (const { part } of whole.slice(told)) yield part;
}

/** A partial transcript comes as soon as its samples have been heard; the final one when all have. */
function isDue({ part, samples }: Heard, { length }: Sound): boolean {
  return part.type === 'transcript-partial' && samples <= length;
}

/** Returns false if an utterance differs from the recorded one, as far as that was heard by its next transcript. */
function fits(next: Heard | undefined, sound: Sound): boolean {
  if (next === undefined || next.samples > sound.length) return true;
  if (next.part.type === 'transcript-final' && next.samples < sound.length) return false;
  return sound.mark(next.samples).hash === next.hash;
}

/** The samples of an utterance so far. */
class Sound {
  readonly #blocks: Float32Array[] = [];
  length = 0;

  async *listenTo(audio: AsyncIterable<AudioFrame>): AsyncGenerator<AudioFrame> {
    for await (const frame of audio) {
      this.#blocks.push(frame.samples.slice());
      this.length += frame.samples.length;
      yield frame;
    }
  }

  /** Returns the hash of the first samples. */
  mark(samples: number): { readonly samples: number; readonly hash: string } {
    const heard = concatSamples(this.#blocks).subarray(0, samples);
    return { samples, hash: createHash('sha256').update(bytesOf(heard)).digest('base64url') };
  }
}

function bytesOf(samples: Float32Array): Buffer {
  return Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
}

function floatsIn(base64: string): Float32Array {
  const bytes = Buffer.from(base64, 'base64');
  return new Float32Array(Uint8Array.from(bytes).buffer, 0, bytes.length / 4);
}

async function* played<Part>(find: () => Answer, signal: AbortSignal): AsyncGenerator<Part> {
  const { engine, parts, fault } = find();
  for (const part of parts) {
    signal.throwIfAborted();
    yield part as Part;
  }
  if (fault !== undefined) throw new EngineError(engine, fault.code, fault.detail);
}

/** Longest time for which a recording continues after its listener has left. */
const longestMs = 60_000;

/** Yields what an engine makes, and records it to its end, whether or not the listener stays. */
async function* recorded<Part>(
  make: (signal: AbortSignal) => AsyncIterable<Part>,
  signal: AbortSignal,
  onEnd: (answer: Pick<Answer, 'parts' | 'fault'>) => void,
): AsyncGenerator<Part> {
  signal.throwIfAborted();
  const work = new AbortController();
  const iterator = make(work.signal)[Symbol.asyncIterator]();
  const parts: Part[] = [];
  const progress = { isWhole: false };
  const next = async (): Promise<IteratorResult<Part>> => {
    try {
      const step = await iterator.next();
      if (step.done === true) {
        progress.isWhole = true;
        onEnd({ parts });
      } else parts.push(step.value);
      return step;
    } catch (cause) {
      progress.isWhole = true;
      if (cause instanceof EngineError) onEnd({ parts, fault: { code: cause.code, detail: cause.detail } });
      throw cause;
    }
  };
  const finish = async (): Promise<void> => {
    const late = setTimeout(() => work.abort(new Error('the recording takes too long')), longestMs);
    while (!progress.isWhole) await next().catch(() => undefined);
    clearTimeout(late);
  };
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  aborted.promise.catch(() => undefined);
  let pending: Promise<IteratorResult<Part>> | undefined;
  try {
    for (;;) {
      pending = next();
      const step = await Promise.race([pending, aborted.promise]);
      pending = undefined;
      if (step.done === true) return;
      yield step.value;
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    if (!progress.isWhole) void (pending ?? Promise.resolve()).catch(() => undefined).then(finish);
  }
}
