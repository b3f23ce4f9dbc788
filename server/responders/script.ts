import { durationMs } from '../../voices/audio.ts';
import { cutChunk, cutToleranceMs } from '../../voices/synthesis/cut-chunk.ts';
import type { SpeechChunk } from '../../voices/synthesizer.ts';
import type { FeltPhrase, ReplyOptions, RestOfPhrase, ScriptPhrase } from '../session/contract/responder.ts';

/** A piece of speech, with the phrase that begins with it. */
export interface ScriptedChunk {
  readonly chunk: SpeechChunk;
  readonly begins?: RestOfPhrase | undefined;
}

/** Phrases of a reply, so that another process can go on in the middle of one. */
export interface Script {
  /** Yields the phrases for the synthesizer: first the one of which only a part was said. */
  phrases(felt: AsyncIterable<FeltPhrase>): AsyncIterable<FeltPhrase>;
  /** Leaves out the audio of that phrase that was said; reports where each phrase begins. */
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
        const { saidMs: _, isLast: _isLast, sound: _sound, needsSound: _needsSound, ...phrase } = rest;
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
          yield { chunk: saidMs > 0 ? cutChunk(chunk, saidMs)[1] : chunk, begins };
          begins = undefined;
        }
        saidMs = Math.max(0, -leftMs);
      }
    },
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
      // Sound after the last word.
      if (text === '' && current !== undefined) return { phrase: current, isFirst: false };
      while (waiting.length > 0 && (current === undefined || left === '' || !left.startsWith(text))) {
        current = waiting.shift();
        left = current?.text ?? '';
      }
      left = left.slice(text.length);
      return { phrase: current, isFirst: current !== before };
    },
  };
}
