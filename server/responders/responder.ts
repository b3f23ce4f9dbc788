import type { CharacterAgent, Circumstance, Cost, ReplyPart, Situation } from '../../agents/agent.ts';
import { emotionOf } from '../../agents/scene/feel.ts';
import type { Feelings } from '../../agents/feelings.ts';
import type { Message, Sampling } from '../../agents/chat.ts';
import type { RecipeName } from '../../agents/recipe-names.ts';
import type { Slip } from '../../agents/violation.ts';
import type { Toolbox } from '../../agents/tools.ts';
import { durationMs, type AudioFrame } from '../../voices/audio.ts';
import type { Emotion } from '../../characters/emotion.ts';
import type { CallOptions } from '../../voices/engine.ts';
import { saidLines } from '../../voices/synthesis/speech-cache.ts';
import { phrases } from '../../voices/text/phrases.ts';
import type { SpeechRecognizer, TranscriptPart } from '../../voices/recognizer.ts';
import type { SpeechChunk, SpeechSynthesizer, Voice } from '../../voices/synthesizer.ts';
import type { Speaker } from '../session/history/conversation.ts';
import { lettersIn, type WrittenCue } from '../session/contract/cues.ts';
import { followPhrases, type FeltPhrase } from './phrase-follower.ts';
import type { Trace } from '../session/contract/turn-timings.ts';

/**
 * A part of a reply as it is made: its source, its cost, its words, spoken or written, and after
 * all words its tool calls.
 */
export type SpokenPart =
  | Exclude<ReplyPart, { readonly type: 'text-delta' | 'cue' }>
  | ({ readonly type: 'cue' } & WrittenCue)
  /** The participant whose words follow, in a scene. */
  | { readonly type: 'speaker'; readonly speaker: Speaker }
  /** The scene is over: no participant has anything more to say. */
  | { readonly type: 'scene-end' }
  /** The participants wait for the user, who is to speak next. */
  | { readonly type: 'users-turn' }
  | ({ readonly type: 'text' } & FeltPhrase)
  | { readonly type: 'speech'; readonly chunk: SpeechChunk; readonly emotion: Emotion | undefined };

export interface ReplyOptions extends CallOptions {
  /** False: text only. */
  readonly speaks: boolean;
  readonly scene: string;
  readonly speed: number;
  readonly maxTokens?: number;
  readonly recipe?: RecipeName;
  readonly situation?: Situation;
  /** Memories of the user, one line each. */
  readonly memories?: readonly string[];
  /** Set if the character plays in a scene with others. */
  readonly circumstance?: Circumstance;
  /** The character's present feelings: they set the emotion of the voice if the LLM gives none. */
  readonly feelings?: Feelings;
  /** In a scene, it was the user's turn and the user did not speak: another participant does. */
  readonly passesUser?: boolean;
  /** Returns the feelings of one participant, for scenes in which the speaker is chosen later. */
  readonly feelingsOf?: (id: string) => Feelings;
  readonly sampling?: Sampling;
  /** Called with the cost of the reply so far. */
  readonly onCost?: (cost: Cost) => void;
  /** Called for each sentence that was withheld. */
  readonly onSlip?: (slip: Slip) => void;
  /** Tools that the reply may call. */
  readonly toolbox?: Toolbox;
  readonly trace: Trace;
  /** Called for speech as it is made. */
  readonly onSpeech?: (ms: number) => void;
}

/** The session's only interface to models. */
export interface Responder {
  /** The contract of `SpeechRecognizer.transcribe`; frames at `sampleRate`. */
  listen(
    audio: AsyncIterable<AudioFrame>,
    options: CallOptions & { readonly language?: string },
  ): AsyncIterable<TranscriptPart>;
  readonly sampleRate: number;
  /**
   * Set if each reply is followed by the next, by the participant it names, until it says that the
   * scene is over.
   */
  readonly goesOn?: true;
  reply(history: readonly Message[], options: ReplyOptions): AsyncIterable<SpokenPart>;
  /**
   * Caches its first words, as far as they are known before the conversation begins. Never rejects.
   */
  prepare?(options: CallOptions): Promise<void>;
}

/** Cascade: recognizer ▶ agent ▶ phrases ▶ synthesizer. */
export function cascade(parts: {
  readonly recognizer: SpeechRecognizer;
  readonly agent: CharacterAgent;
  readonly synthesizer: SpeechSynthesizer;
  readonly voice: Voice;
  /** Possible first lines, for the speech cache; none by default. */
  readonly greetings?: readonly string[];
}): Responder {
  const { recognizer, agent, synthesizer, voice, greetings = [] } = parts;
  const said = saidLines(synthesizer);
  return {
    sampleRate: recognizer.sampleRate,
    listen: (audio, options) => recognizer.transcribe(audio, options),
    async *reply(history, options) {
      const aside: Aside = { notes: [], calls: [] };
      const spoken = speakable(agent.reply(history, options), aside, options);
      if (!options.speaks) {
        for await (const phrase of spoken) {
          yield* aside.notes.splice(0);
          yield { type: 'text', ...phrase };
        }
      } else {
        const follower = followPhrases();
        const phrased = coloured(
          noted(spoken, (phrase) => follower.handed(phrase)),
          options.feelings,
        );
        const speaker = isScripted(options.situation) ? said : synthesizer;
        for await (const chunk of speaker.speak(phrased, { signal: options.signal, voice, speed: options.speed })) {
          options.trace.mark('first_speech');
          yield* aside.notes.splice(0);
          options.onSpeech?.(durationMs(chunk.frame));
          yield { type: 'speech', chunk, emotion: follower.emotionOf(chunk.text) };
        }
      }
      // Tools are called only after everything is said: a user who interrupts the character
      // prevents the call.
      yield* aside.calls;
      yield* aside.notes;
    },
    async prepare({ signal }) {
      for (const greeting of greetings) await said.prepare(greeting, { signal, voice, speed: 1 });
    },
  };
}

/** Returns true if the reply is one of a few fixed lines, so that the speech cache is used. */
function isScripted(situation: Situation | undefined): boolean {
  return situation === 'greeting' || situation === 'unclear' || situation === 'nod';
}

type CallPart = Extract<ReplyPart, { readonly type: 'tool-call' }>;

/** Parts of a reply that are not spoken, as they come. */
interface Aside {
  notes: Exclude<SpokenPart, CallPart | { readonly type: 'text' | 'speech' }>[];
  readonly calls: CallPart[];
}

/** Gives phrases without an emotion of their own that of the character's feelings. */
async function* coloured(phrased: AsyncIterable<FeltPhrase>, feelings?: Feelings): AsyncIterable<FeltPhrase> {
  const usual = feelings === undefined ? undefined : emotionOf(feelings);
  for await (const phrase of phrased) yield usual === undefined ? phrase : { emotion: usual, ...phrase };
}

async function* noted<Part>(parts: AsyncIterable<Part>, note: (part: Part) => void): AsyncIterable<Part> {
  for await (const part of parts) {
    note(part);
    yield part;
  }
}

/** State of one reply while it is read from its agent. */
interface Run {
  ended: boolean;
  minds: number;
  /**
   * `letters`: letters written by the present source, after those of earlier phrases; `phrased`:
   * letters of all phrases so far.
   */
  letters: number;
  phrased: number;
  /** Emotion of the latest text. */
  emotion: Emotion | undefined;
  /** Emotion of the first text of the present source. */
  opening: { readonly emotion: Emotion | undefined } | undefined;
}

/**
 * Yields the phrases of a reply, each with the emotion at its beginning. If another source takes
 * over, the unfinished phrase of the first is dropped, and so are its tool calls.
 */
async function* speakable(
  parts: AsyncIterable<ReplyPart>,
  aside: Aside,
  { trace }: ReplyOptions,
): AsyncIterable<FeltPhrase> {
  const iterator = parts[Symbol.asyncIterator]();
  const run: Run = { ended: false, minds: 0, letters: 0, phrased: 0, emotion: undefined, opening: undefined };
  try {
    while (!run.ended) {
      let began: Run['opening'];
      try {
        for await (const text of phrases(deltasOfOneMind(iterator, aside, trace, run))) {
          trace.mark('first_phrase');
          run.phrased += lettersIn(text);
          const { emotion } = began ?? run.opening ?? run;
          // A phrase ends when the first character of the next one has come.
          began = { emotion: run.emotion };
          yield { text, ...(emotion === undefined ? {} : { emotion }) };
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
  run: Run,
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
      run.letters += lettersIn(part.text);
      run.emotion = part.emotion ?? run.emotion;
      run.opening ??= { emotion: run.emotion };
      yield part.text;
      continue;
    }
    if (part.type === 'cue') {
      aside.notes.push({ ...part, afterLetters: run.letters });
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
    aside.notes = aside.notes.filter((note) => note.type !== 'cue' || note.afterLetters <= run.phrased);
    run.letters = run.phrased;
    run.emotion = undefined;
    run.opening = undefined;
    throw mindChanged;
  }
}
