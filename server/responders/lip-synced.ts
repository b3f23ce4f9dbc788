import type { Character } from '../../characters/character.ts';
import { durationMs } from '../../voices/audio.ts';
import { cutChunk } from '../../voices/synthesis/cut-chunk.ts';
import type { SpeechChunk } from '../../voices/synthesizer.ts';
import type { Aligner } from '../../voices/visemes/aligner.ts';
import type { PhraseShapes } from '../../voices/visemes/phrase-shapes.ts';
import { VisemesBySound } from '../../voices/visemes/visemes-by-sound.ts';
import type { FeltPhrase, LipSync, Responder } from '../session/contract/responder.ts';
import { followPhrases } from './script.ts';

/** Telephone bands and above. */
const leastSampleRate = 8_000;
/** Sound that is taken from the engine before it is asked for, so that the end of a piece is known: more is a waste. */
const mostAheadMs = 1_000;
/** Longest piece whose shapes are found in its sound, and with the help of a reference: multiples of a slice of 60 ms. */
const mostBySoundMs = 240;
const mostAlignedMs = 960;
/** A shorter piece is not worth an event. */
const leastMs = 60;

/** The part of the engines that makes replies. */
interface Responders {
  responderFor(character: Character): Responder;
  readonly aligner?: Aligner | undefined;
}

/** Returns the responders with mouth shapes if an engine reports none: aligned, or found in the audio. */
export function lipSynced(engines: Responders): Responders {
  return {
    responderFor(character) {
      const responder = engines.responderFor(character);
      const [language] = character.languages ?? [];
      const lipSync = engines.aligner && alignedBy(engines.aligner, language);
      return {
        ...responder,
        async *reply(history, options) {
          const withShapes = shapesBySound();
          for await (const part of responder.reply(history, { ...options, lipSync }))
            yield part.type === 'speech' ? { ...part, chunk: withShapes(part.chunk) } : part;
        },
      };
    },
  };
}

/** Returns a function that adds the shapes found in the sound to chunks of one speaker, which come in order. */
export function shapesBySound(): (chunk: SpeechChunk) => SpeechChunk {
  let hearing: { readonly sampleRate: number; readonly visemes: VisemesBySound } | undefined;
  return (chunk) => {
    const { frame, mouth } = chunk;
    if (mouth !== undefined || !canHear(chunk)) return chunk;
    if (hearing?.sampleRate !== frame.sampleRate)
      hearing = { sampleRate: frame.sampleRate, visemes: new VisemesBySound(frame.sampleRate) };
    return { ...chunk, mouth: hearing.visemes.take(frame) };
  };
}

function canHear({ frame }: SpeechChunk): boolean {
  return frame.samples.length > 0 && frame.sampleRate >= leastSampleRate;
}

/** Speech that has come and was not asked for; `fromMs`: where it begins in its phrase, if that is aligned. */
interface Ready {
  readonly chunk: SpeechChunk;
  readonly fromMs: number;
  readonly phrase: PhraseShapes | undefined;
}

/**
 * Adds shapes of the mouth by the times of words, or by a reference voice, which begins as soon as a phrase goes to the
 * engine. Audio is never held back for them: shapes that are not known when they are due are found in the audio. `waits`:
 * audio waits for them, if it is not heard live.
 */
export function alignedBy(aligner: Aligner, language?: string, { waits = false } = {}): LipSync {
  return async function* lipSync(phrases, speak) {
    const follower = followPhrases<FeltPhrase & { readonly mouth: PhraseShapes }>();
    const open = new Set<PhraseShapes>();
    async function* noted(): AsyncGenerator<FeltPhrase> {
      for await (const phrase of phrases) {
        const mouth = aligner.begin(phrase.text, language);
        open.add(mouth);
        follower.handed({ ...phrase, mouth });
        yield phrase;
      }
    }
    const shapes = shapesBySound();
    const ahead = readAhead(speak(noted()), (chunk) => {
      if (chunk.mouth !== undefined || !canHear(chunk)) return undefined;
      return follower.phraseOf(chunk.text).phrase?.mouth;
    });
    try {
      for await (const ready of ahead) yield* withShapesOf(ready, shapes, waits);
    } finally {
      for (const mouth of open) mouth.close();
    }
  };
}

/** Cuts speech into pieces whose shapes are known, and pieces whose shapes are found in their sound. */
async function* withShapesOf(
  { chunk, fromMs, phrase }: Ready,
  bySound: (chunk: SpeechChunk) => SpeechChunk,
  waits: boolean,
): AsyncGenerator<SpeechChunk> {
  if (phrase === undefined) return yield chunk;
  let left: SpeechChunk | undefined = chunk;
  let atMs = fromMs;
  while (left !== undefined) {
    if (waits) await phrase.settled();
    const lengthMs = durationMs(left.frame);
    const knownMs = Math.min(lengthMs, phrase.knownMs - atMs, mostAlignedMs);
    const isKnown = knownMs >= Math.min(leastMs, lengthMs);
    const pieceMs = isKnown ? wholeSlices(knownMs, lengthMs) : Math.min(mostBySoundMs, lengthMs);
    const [piece, rest]: [SpeechChunk, SpeechChunk | undefined] =
      lengthMs - pieceMs < 1 ? [left, undefined] : cutChunk(left, pieceMs);
    // Heard in any case, for the pieces that have to be found in the sound.
    const heard = bySound(piece);
    const mouth = isKnown ? phrase.between(atMs, atMs + pieceMs) : undefined;
    yield mouth === undefined ? heard : { ...heard, mouth };
    left = rest;
    atMs += pieceMs;
  }
}

/** A piece ends where a slice does, unless its chunk ends. */
function wholeSlices(ms: number, mostMs: number): number {
  return ms >= mostMs - 1 ? mostMs : Math.floor(ms / leastMs) * leastMs;
}

/** Reads speech ahead of its listener, and lets each phrase know its sound as it comes. */
async function* readAhead(
  speech: AsyncIterable<SpeechChunk>,
  phraseOf: (chunk: SpeechChunk) => PhraseShapes | undefined,
): AsyncGenerator<Ready> {
  const iterator = speech[Symbol.asyncIterator]();
  const ready: Ready[] = [];
  const state = { aheadMs: 0, isOver: false, isLeft: false };
  let failure: { readonly reason: unknown } | undefined;
  let change = Promise.withResolvers<void>();
  const changed = (): void => {
    change.resolve();
    change = Promise.withResolvers<void>();
  };
  const reading = async (): Promise<void> => {
    let phrase: PhraseShapes | undefined;
    let fromMs = 0;
    while (!state.isLeft) {
      const next = await iterator.next();
      if (next.done === true) break;
      const chunk = next.value;
      const present = phraseOf(chunk);
      if (present !== phrase) {
        phrase?.end();
        [phrase, fromMs] = [present, 0];
      }
      present?.take(chunk);
      ready.push({ chunk, fromMs, phrase: present });
      fromMs += durationMs(chunk.frame);
      state.aheadMs += durationMs(chunk.frame);
      changed();
      while (state.aheadMs > mostAheadMs && !state.isLeft) await change.promise;
    }
    phrase?.end();
  };
  void reading()
    .catch((reason: unknown) => (failure = { reason }))
    .finally(() => {
      state.isOver = true;
      changed();
    });
  try {
    for (;;) {
      const next = ready.shift();
      if (next !== undefined) {
        yield next;
        state.aheadMs -= durationMs(next.chunk.frame);
        changed();
      } else if (state.isOver) {
        if (failure !== undefined) throw failure.reason;
        return;
      } else await change.promise;
    }
  } finally {
    state.isLeft = true;
    changed();
    // Not awaited: a source in the middle of its work answers only when that is done.
    void iterator.return?.().catch(() => undefined);
  }
}
