import { durationMs } from '../../voices/audio.ts';
import type { MouthMovement, SpeechChunk, TimedWord } from '../../voices/synthesizer.ts';
import {
  cutToleranceMs,
  type FeltPhrase,
  type ReplyOptions,
  type RestOfPhrase,
  type ScriptPhrase,
} from '../session/contract/responder.ts';

/** A piece of speech, with the phrase that begins with it. */
export interface ScriptedChunk {
  readonly chunk: SpeechChunk;
  readonly begins?: RestOfPhrase | undefined;
}

/** What a reply says, phrase by phrase, so that another process can go on in the middle of one. */
export interface Script {
  /** Yields the phrases for the synthesizer: first the one of which only a part was said. */
  phrases(felt: AsyncIterable<FeltPhrase>): AsyncIterable<FeltPhrase>;
  /** Leaves out the sound of that phrase that was said; tells where each phrase begins. */
  follow(speech: AsyncIterable<SpeechChunk>): AsyncIterable<ScriptedChunk>;
}

/** Begins the script of a reply, or continues with that of one that was cut. */
export function openScript({ heard = '', rest }: Pick<ReplyOptions, 'heard' | 'rest'>): Script {
  const follower = followPhrases<ScriptPhrase>();
  let before = heard;
  let saidMs = rest?.saidMs ?? 0;
  return {
    async *phrases(felt) {
      if (rest !== undefined) {
        const { text, emotion, before: earlier } = rest;
        const phrase = { text, ...(emotion === undefined ? {} : { emotion }), before: earlier };
        follower.handed(phrase);
        yield phrase;
      }
      for await (const phrase of felt) {
        follower.handed({ ...phrase, before });
        before += phrase.text;
        yield phrase;
      }
    },
    async *follow(speech) {
      let begins: RestOfPhrase | undefined;
      for await (const chunk of speech) {
        const { phrase, isFirst } = follower.phraseOf(chunk.text);
        if (phrase !== undefined && isFirst)
          begins = { ...phrase, saidMs: phrase.before === rest?.before ? saidMs : 0 };
        const leftMs = durationMs(chunk.frame) - saidMs;
        if (leftMs > cutToleranceMs) {
          yield { chunk: saidMs > 0 ? restOf(chunk, saidMs) : chunk, begins };
          begins = undefined;
        }
        saidMs = Math.max(0, -leftMs);
      }
    },
  };
}

/** Returns a chunk without its first milliseconds, and without the words that begin in them. */
function restOf(chunk: SpeechChunk, saidMs: number): SpeechChunk {
  const { frame, text, words, mouth } = chunk;
  const samples = frame.samples.subarray(Math.round((saidMs / 1000) * frame.sampleRate));
  const isSaid = ({ startMs }: { readonly startMs: number }): boolean => startMs < saidMs - cutToleranceMs;
  const left = words?.filter((word) => !isSaid(word)) ?? [];
  const said = words?.filter(isSaid) ?? [];
  return {
    frame: { ...frame, samples },
    text: left.length === 0 ? '' : text.slice(endOf(said, left, text)),
    words: left.map((word) => ({ ...word, startMs: word.startMs - saidMs, endMs: word.endMs - saidMs })),
    ...(mouth === undefined ? {} : { mouth: laterShapes(mouth, saidMs) }),
  };
}

/** Returns where the first word that is left begins in the text. */
function endOf(said: readonly TimedWord[], [first]: readonly TimedWord[], text: string): number {
  let at = 0;
  for (const word of said) at = Math.max(at, text.indexOf(word.text.trim(), at) + word.text.trim().length);
  return Math.max(at, text.indexOf(first?.text.trim() ?? '', at));
}

function laterShapes({ basis, visemes, phones }: MouthMovement, saidMs: number): MouthMovement {
  const shapes = visemes.filter((_, at) => (visemes[at + 1]?.startMs ?? Infinity) > saidMs);
  const sounds = phones.filter(({ endMs }) => endMs > saidMs);
  return {
    basis,
    visemes: shapes.map((shape) => ({ ...shape, startMs: Math.max(0, shape.startMs - saidMs) })),
    phones: sounds.map((phone) => ({
      ...phone,
      startMs: Math.max(0, phone.startMs - saidMs),
      endMs: phone.endMs - saidMs,
    })),
  };
}

/** Finds the phrase that a piece of speech belongs to. */
export interface PhraseFollower<Phrase> {
  /** Notes a phrase that goes to the synthesizer. */
  handed(phrase: Phrase): void;
  /**
   * Returns the phrase of the next piece of speech, and whether it is the first of it; pieces come in order and add up to
   * their phrase.
   */
  phraseOf(text: string): { readonly phrase: Phrase | undefined; readonly isFirst: boolean };
}

export function followPhrases<Phrase extends { readonly text: string }>(): PhraseFollower<Phrase> {
  const waiting: Phrase[] = [];
  let current: Phrase | undefined;
  let left = '';
  return {
    handed: (phrase) => void waiting.push(phrase),
    phraseOf(text) {
      const before = current;
      while (waiting.length > 0 && (current === undefined || left === '' || !left.startsWith(text))) {
        current = waiting.shift();
        left = current?.text ?? '';
      }
      left = left.slice(text.length);
      return { phrase: current, isFirst: current !== before };
    },
  };
}
