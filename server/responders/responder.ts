import type { CharacterAgent, ReplyPart } from '../../agents/agent.ts';
import { emotionOf, intensityOf } from '../../agents/scene/feel.ts';
import type { Feelings } from '../../agents/feelings.ts';
import { durationMs } from '../../voices/audio.ts';
import type { Felt } from '../../characters/emotion.ts';
import { openSpeechCache, type SpeechCache } from '../../voices/synthesis/speech-cache.ts';
import { phrases, type Announced } from '../../voices/text/phrases.ts';
import type { SpeechRecognizer } from '../../voices/recognizer.ts';
import type { SpeechChunk, SpeechSynthesizer, Voice } from '../../voices/synthesizer.ts';
import { lettersIn } from '../session/contract/item.ts';
import type { FeltPhrase, SpokenPart, ReplyOptions, Responder, RestOfPhrase } from '../session/contract/responder.ts';
import { keepingSound } from './kept-sound.ts';
import { followPhrases, openScript } from './script.ts';
import { skipHeard } from './skip-heard.ts';
import type { TurnTimings } from '../session/contract/turn-timings.ts';

/** Cascade: recognizer ▶ agent ▶ phrases ▶ synthesizer. */
export function cascade(parts: {
  readonly recognizer: SpeechRecognizer;
  readonly agent: CharacterAgent;
  readonly synthesizer: SpeechSynthesizer;
  readonly voice: Voice;
  /** Possible first lines, for the speech cache; none by default. */
  readonly greetings?: readonly string[];
  /** Shared by all characters; its own by default. */
  readonly speechCache?: SpeechCache;
}): Responder {
  const { recognizer, agent, synthesizer, voice, greetings = [], speechCache = openSpeechCache() } = parts;
  return {
    sampleRate: recognizer.sampleRate,
    listen: (audio, options) => recognizer.transcribe(audio, options),
    async *reply(history, options) {
      const aside: Aside = { notes: [], calls: [] };
      const speaking = options.through?.(agent) ?? agent;
      const made = options.rest?.isLast === true ? nothing() : speaking.reply(history, options);
      const { heard } = options;
      const spoken = speakable(heard === undefined ? made : skipHeard(made, heard), aside, options);
      if (!options.speaks) {
        for await (const phrase of spoken) {
          yield* aside.notes.splice(0);
          yield { type: 'text', ...phrase };
        }
      } else {
        const follower = followPhrases<FeltPhrase>();
        const felt = noted(spoken, (phrase) => follower.handed(phrase));
        const script = openScript(options);
        const phrased = script.phrases(coloured(felt, options.feelings));
        const seed = options.sampling?.seed;
        const how = { signal: options.signal, voice, speed: options.speed, ...(seed === undefined ? {} : { seed }) };
        // A few fixed lines are spoken from the speech cache, unless a seed asks for its own rendering.
        const isCached = seed === undefined && ['greeting', 'unclear', 'nod'].includes(options.situation ?? '');
        const isRepeatable = (phrase: FeltPhrase): boolean => synthesizer.isRepeatable?.(phrase, how) === true;
        // In a scene, a restart cuts the turn.
        const keepSound = options.circumstance === undefined ? options.keepSound : undefined;
        const synthesized = (said: AsyncIterable<FeltPhrase>): AsyncIterable<SpeechChunk> =>
          isCached ? speechCache.speak(synthesizer, said, how) : synthesizer.speak(said, how);
        const speak = withKeptSound(synthesized, { ...options, keepSound, isRepeatable });
        const speech = options.lipSync?.(phrased, speak) ?? speak(phrased);
        for await (const { chunk, begins } of script.follow(speech)) {
          options.trace.mark('first_speech');
          yield* aside.notes.splice(0);
          options.onSpeech?.(durationMs(chunk.frame));
          const { emotion, intensity } = follower.phraseOf(chunk.text).phrase ?? {};
          yield {
            type: 'speech',
            chunk,
            emotion,
            intensity,
            ...(begins === undefined || options.circumstance !== undefined
              ? {}
              : placed(begins, isRepeatable(begins), keepSound !== undefined)),
          };
        }
      }
      // Tools are called only after everything is said: a user who interrupts the character prevents the call.
      yield* aside.calls;
      yield* aside.notes;
    },
    prepare: ({ signal }) => speechCache.prepare(synthesizer, greetings, { signal, voice, speed: 1 }),
  };
}

/** A single server keeps no sound. */
function withKeptSound(...[speak, options]: Parameters<typeof keepingSound>): typeof speak {
  const isKept = options.keepSound !== undefined || options.rest?.sound !== undefined;
  return isKept ? keepingSound(speak, options) : speak;
}

/** A phrase that begins, if another process can say its rest: sample by sample, or from its kept sound. */
function placed(begins: RestOfPhrase, isRepeatable: boolean, keepsSound: boolean): { readonly begins?: RestOfPhrase } {
  if (isRepeatable) return { begins };
  return keepsSound ? { begins: { ...begins, needsSound: true } } : {};
}

async function* nothing(): AsyncIterable<never> {}

type CallPart = Extract<ReplyPart, { readonly type: 'tool-call' }>;

/** Parts of a reply that are not spoken, as they come. */
interface Aside {
  notes: Exclude<SpokenPart, CallPart | { readonly type: 'text' | 'speech' }>[];
  readonly calls: CallPart[];
}

/** Gives phrases without their own emotion that of the character's feelings. */
async function* coloured(phrased: AsyncIterable<FeltPhrase>, feelings?: Feelings): AsyncIterable<FeltPhrase> {
  const usual = feelings === undefined ? undefined : emotionOf(feelings);
  for await (const phrase of phrased)
    yield usual === undefined ? phrase : { ...feltAs({ emotion: usual }, feelings), ...phrase };
}

/** An emotion with its intensity: as it was written, else as the character's feelings have it. */
function feltAs({ emotion, intensity }: Felt, feelings: Feelings | undefined): Felt {
  if (emotion === undefined) return {};
  const strength = intensity ?? (feelings === undefined ? undefined : intensityOf(emotion, feelings));
  return strength === undefined ? { emotion } : { emotion, intensity: strength };
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
  sources: number;
  /** Letters written by the present source, after those of earlier phrases; letters of all phrases so far. */
  letters: number;
  phrased: number;
  felt: Felt;
  /** Emotion of the first text of the present source. */
  opening: Felt | undefined;
}

/**
 * Yields the phrases of a reply, each with the emotion at its beginning. If another source takes over, the unfinished
 * phrase of the first is dropped, and so are its tool calls.
 */
async function* speakable(
  parts: AsyncIterable<ReplyPart>,
  aside: Aside,
  { trace, feelings }: ReplyOptions,
): AsyncIterable<FeltPhrase> {
  const iterator = parts[Symbol.asyncIterator]();
  const run: Run = { ended: false, sources: 0, letters: 0, phrased: 0, felt: {}, opening: undefined };
  try {
    while (!run.ended) {
      let began: Run['opening'];
      try {
        for await (const text of phrases(deltasOfOneSource(iterator, aside, trace, run))) {
          trace.mark('first_phrase');
          run.phrased += lettersIn(text);
          const felt = began ?? run.opening ?? run.felt;
          // A phrase ends when the first character of the next one has come.
          began = run.felt;
          yield { text, ...feltAs(felt, feelings) };
        }
      } catch (reason) {
        if (reason !== sourceChanged) throw reason;
      }
    }
  } finally {
    await iterator.return?.();
  }
}

const sourceChanged = Symbol('another model continues');

async function* deltasOfOneSource(
  iterator: AsyncIterator<ReplyPart>,
  aside: Aside,
  trace: TurnTimings,
  run: Run,
): AsyncIterable<string | Announced> {
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
      if (part.emotion !== undefined) run.felt = { emotion: part.emotion, intensity: part.intensity };
      run.opening ??= run.felt;
      yield part.text;
      if (part.next !== undefined) yield { next: part.next };
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
    if (part.type !== 'reply-source') continue;
    run.sources += 1;
    if (run.sources === 1) continue;
    aside.calls.length = 0;
    aside.notes = aside.notes.filter((note) => note.type !== 'cue' || note.afterLetters <= run.phrased);
    run.letters = run.phrased;
    run.felt = {};
    run.opening = undefined;
    throw sourceChanged;
  }
}
