import { durationMs } from '../audio.ts';
import type { Meter } from '../calls/calls.ts';
import type { EngineContext } from '../calls/context.ts';
import { type PcmBlock, isFormatFault } from '../calls/pcm-stream.ts';
import { type CallOptions, EngineError } from '../engine.ts';
import { splitText } from '../text/phrases.ts';
import type { Phrase, SpeakOptions, SpeechChunk, SpeechSynthesizer, Voice } from '../synthesizer.ts';
import { Queue, untilAborted } from '../runtime/streams.ts';
import { withWordTimings, type SpeakingRate, speechUnits } from './estimated-word-timings.ts';
import type { ToldTimes } from './told-word-timings.ts';
import { badReply, type Upstream } from '../calls/http-faults.ts';

/** Options of one synthesis request. */
export interface RenderOptions extends CallOptions {
  readonly voice: Voice;
  readonly language?: string | undefined;
  /** Factor on the tempo, 1 = the voice's own. */
  readonly speed: number;
  readonly emotion?: string | undefined;
  readonly meter: Meter;
}

/** Engine that synthesizes one text per request. */
export interface PhraseRenderer {
  /** BCP 47 primary tags; empty if only the user can know. */
  readonly languages: readonly string[];
  /** Maximum length of a text in UTF-16 units; longer phrases are split. */
  readonly maxCharacters: number;
  /** True if the server sends nothing before the whole clip is made. */
  readonly comesWhole: boolean;
  /** Fade-out at the end of each text, in milliseconds: for engines whose audio ends in noise. */
  readonly fadeOutMs?: number;
  /** Times that come with its audio, or next to it; absent if it sends none, or only sometimes. */
  readonly times?: ToldTimes;
  /** Sends one request; yields audio as it arrives, at any rate. `text` is trimmed, and has letters or digits. */
  render(text: string, options: RenderOptions): AsyncIterable<PcmBlock>;
}

/** Output rate of every engine behind a server, in hertz: the rate of the wire protocol. */
export const spokenSampleRate = 24_000;

/** Text that is being synthesized. */
interface Underway {
  readonly text: string;
  readonly blocks: Queue<PcmBlock>;
  /** Resolves when all of its audio has arrived or the request has failed; never rejects. */
  readonly received: Promise<void>;
}

/**
 * Makes a synthesizer from an engine that takes one text per request: one text at a time, read as fast as the server
 * sends it. The next one is requested as soon as the last has arrived, one text ahead of the reader. Words come with
 * the audio that says them; their times are estimates while the length of the audio is unknown.
 */
export function speakByPhrase(renderer: PhraseRenderer, context: EngineContext): SpeechSynthesizer {
  const pace: SpeakingRate = { msPerUnit: undefined };
  return {
    name: context.name,
    sampleRate: spokenSampleRate,
    languages: renderer.languages,
    speak: (phrases, options) => speak(phrases, options, { renderer, context, pace }),
  };
}

interface Parts {
  readonly renderer: PhraseRenderer;
  readonly context: EngineContext;
  readonly pace: SpeakingRate;
}

async function* speak(
  phrases: AsyncIterable<Phrase>,
  options: SpeakOptions,
  parts: Parts,
): AsyncGenerator<SpeechChunk> {
  options.signal.throwIfAborted();
  const gone = new AbortController();
  const signal = AbortSignal.any([options.signal, gone.signal]);
  const texts = textsOf(untilAborted(phrases, { signal }), parts.renderer.maxCharacters);
  const owner = {};
  const begin = async (after: Promise<void> | undefined): Promise<Underway | undefined> => {
    await after;
    const next = await texts.next();
    return next.done === true ? undefined : request(next.value, { ...options, signal }, parts, owner);
  };
  let atMs = 0;
  try {
    let current = await begin(undefined);
    while (current !== undefined) {
      const following = begin(current.received);
      // It may fail before its turn, or after the reader has left.
      following.catch(() => undefined);
      const { fadeOutMs = 0, comesWhole, times } = parts.renderer;
      const form = { sampleRate: spokenSampleRate, fadeOutMs, comesWhole, pace: parts.pace, times };
      for await (const told of withWordTimings(current.text, untilAborted(current.blocks, { signal }), form)) {
        const frame = { samples: told.samples, sampleRate: spokenSampleRate, atMs };
        atMs += durationMs(frame);
        const { text, words, mouth, isExact } = told;
        const timed = isExact === true ? { words, wordsAreExact: isExact } : words.length > 0 && { words };
        yield { frame, text, ...timed, ...(mouth !== undefined && { mouth }) };
      }
      current = await following;
    }
  } finally {
    gone.abort(new Error('the caller stopped reading'));
  }
}

interface Text {
  readonly text: string;
  readonly emotion?: string | undefined;
}

async function* textsOf(phrases: AsyncIterable<Phrase>, maxCharacters: number): AsyncGenerator<Text> {
  for await (const { text, emotion } of phrases) {
    for (const piece of splitText(text, maxCharacters, sayable)) yield { text: piece, emotion };
  }
}

function sayable(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}

function request({ text, emotion }: Text, options: SpeakOptions, parts: Parts, owner: object): Underway {
  const { renderer, context } = parts;
  const { signal, voice, language, speed = 1 } = options;
  const blocks = new Queue<PcmBlock>();
  const said = text.trim();
  const receive = async (): Promise<void> => {
    const sound = context.calls.stream(
      (call) => {
        call.meter.characters = said.length;
        const rendered = renderer.render(said, { ...call, voice, language, speed, emotion });
        return checkedAudio(rendered, said, { upstream: context, meter: call.meter });
      },
      { signal, owner },
    );
    for await (const block of sound) blocks.push(block);
  };
  const received = receive().then(
    () => blocks.end(),
    (cause: unknown) => blocks.fail(cause),
  );
  return { text, blocks, received };
}

/** Shorter audio counts as no speech: servers that fail after they have sent status 200 send about that much. */
const leastMs = 50;

/** Longer audio is a model that does not stop. Milliseconds for any text, and for each unit of it. */
const mostMs = { ever: 15_000, perUnit: 600 };

/** Passes on the audio of one text; `ENGINE_BAD_REPLY` for next to none, bytes that are no audio, and no end. */
async function* checkedAudio(
  blocks: AsyncIterable<PcmBlock>,
  text: string,
  { upstream, meter }: { readonly upstream: Upstream; readonly meter: Meter },
): AsyncGenerator<PcmBlock> {
  const longestMs = mostMs.ever + mostMs.perUnit * speechUnits(text);
  const held: PcmBlock[] = [];
  let ms = 0;
  try {
    for await (const block of blocks) {
      ms += (block.samples.length / block.sampleRate) * 1000;
      meter.audioSeconds = Math.round(ms) / 1000;
      if (ms > longestMs) throw badReply(upstream, `${Math.round(ms / 1000)} s of audio for ${text.length} characters`);
      held.push(block);
      if (ms >= leastMs) yield* held.splice(0);
    }
  } catch (cause) {
    if (isFormatFault(cause)) throw badReply(upstream, 'an unreadable WAV file');
    throw cause;
  }
  if (ms < leastMs) {
    const detail = `the server sent no audio (${Math.round(ms)} ms). Check its log.`;
    throw new EngineError(upstream.name, 'ENGINE_BAD_REPLY', detail);
  }
}
