import type { CharacterAgent, ReplyPart, Situation } from '../../agents/agent.ts';
import type { Message } from '../../agents/chat.ts';
import type { Toolbox } from '../../agents/tools.ts';
import type { AudioFrame } from '../../voices/audio.ts';
import type { CallOptions } from '../../voices/engine.ts';
import { phrases } from '../../voices/phrases.ts';
import type { SpeechRecognizer, TranscriptPart } from '../../voices/recognizer.ts';
import type { SpeechChunk, SpeechSynthesizer, Voice } from '../../voices/synthesizer.ts';
import type { Trace } from './trace.ts';

/** A reply as it is made: who speaks, what it cost, its words, spoken or written, and after all words its calls. */
export type SpokenPart =
  | Exclude<ReplyPart, { readonly type: 'text-delta' }>
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'speech'; readonly chunk: SpeechChunk };

export interface ReplyOptions extends CallOptions {
  /** False: text only. */
  readonly speaks: boolean;
  readonly scene: string;
  readonly speed: number;
  readonly maxTokens?: number;
  readonly situation?: Situation;
  /** What the reply may call. */
  readonly toolbox?: Toolbox;
  readonly trace: Trace;
}

/** The only thing a session knows about models. */
export interface Responder {
  /** The contract of `SpeechRecognizer.transcribe`; frames at `sampleRate`. */
  listen(
    audio: AsyncIterable<AudioFrame>,
    options: CallOptions & { readonly language?: string },
  ): AsyncIterable<TranscriptPart>;
  readonly sampleRate: number;
  reply(history: readonly Message[], options: ReplyOptions): AsyncIterable<SpokenPart>;
}

/** Recognizer ▶ agent ▶ phrases ▶ synthesizer. */
export function cascade(parts: {
  readonly recognizer: SpeechRecognizer;
  readonly agent: CharacterAgent;
  readonly synthesizer: SpeechSynthesizer;
  readonly voice: Voice;
}): Responder {
  const { recognizer, agent, synthesizer, voice } = parts;
  return {
    sampleRate: recognizer.sampleRate,
    listen: (audio, options) => recognizer.transcribe(audio, options),
    async *reply(history, options) {
      const aside: Aside = { notes: [], calls: [] };
      const spoken = speakable(agent.reply(history, options), aside, options.trace);
      if (!options.speaks) {
        for await (const text of spoken) {
          yield* aside.notes.splice(0);
          yield { type: 'text', text };
        }
      } else {
        const phrased = asPhrases(spoken);
        for await (const chunk of synthesizer.speak(phrased, { signal: options.signal, voice, speed: options.speed })) {
          options.trace.mark('first_speech');
          yield* aside.notes.splice(0);
          yield { type: 'speech', chunk };
        }
      }
      // Nothing is called before everything is said: who interrupts the character keeps it from acting.
      yield* aside.calls;
      yield* aside.notes;
    },
  };
}

type CallPart = Extract<ReplyPart, { readonly type: 'tool-call' }>;

/** Parts of a reply that are not spoken, as they come. */
interface Aside {
  readonly notes: Exclude<ReplyPart, CallPart | { readonly type: 'text-delta' }>[];
  readonly calls: CallPart[];
}

async function* asPhrases(texts: AsyncIterable<string>): AsyncIterable<{ text: string }> {
  for await (const text of texts) yield { text };
}

/** Phrases of a reply. When another mind takes over, the unfinished phrase of the first is dropped, and so are its calls. */
async function* speakable(parts: AsyncIterable<ReplyPart>, aside: Aside, trace: Trace): AsyncIterable<string> {
  const iterator = parts[Symbol.asyncIterator]();
  const run = { ended: false, minds: 0 };
  try {
    while (!run.ended) {
      try {
        for await (const phrase of phrases(deltasOfOneMind(iterator, aside, trace, run))) {
          trace.mark('first_phrase');
          yield phrase;
        }
      } catch (reason) {
        if (reason !== mindChanged) throw reason;
      }
    }
  } finally {
    await iterator.return?.();
  }
}

const mindChanged = Symbol('another mind goes on');

async function* deltasOfOneMind(
  iterator: AsyncIterator<ReplyPart>,
  aside: Aside,
  trace: Trace,
  run: { ended: boolean; minds: number },
): AsyncIterable<string> {
  for (;;) {
    const next = await iterator.next();
    if (next.done === true) {
      run.ended = true;
      return;
    }
    const part = next.value;
    if (part.type === 'text-delta') {
      trace.mark('first_token');
      yield part.text;
      continue;
    }
    if (part.type === 'tool-call') {
      trace.mark('first_token');
      aside.calls.push(part);
      continue;
    }
    aside.notes.push(part);
    if (part.type !== 'mind') continue;
    run.minds += 1;
    if (run.minds === 1) continue;
    aside.calls.length = 0;
    throw mindChanged;
  }
}
