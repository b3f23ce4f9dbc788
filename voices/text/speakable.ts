import { lookAheadCharacters } from '../limits.ts';
import { markupRules, type MarkupContext } from './markup-rules.ts';

/**
 * Removes from a stream of text what should not be spoken: Markdown, HTML tags, code blocks, emoji, and stage
 * directions such as `*bows*`, `(smiles)` and `[laughs]`. Keeps emphasised and bracketed words that belong to the
 * speech, and normalizes white space. The result does not depend on how the text was split into deltas. Holds text back
 * only while it may still turn out to be markup: a few hundred characters, at most to the end of the line. Drops code
 * blocks entirely.
 */
export async function* speakable(deltas: AsyncIterable<string>): AsyncIterable<string> {
  const filter = new SpeakableFilter();
  for await (const delta of deltas) {
    const text = filter.push(delta);
    if (text !== '') yield text;
  }
  const rest = filter.end();
  if (rest !== '') yield rest;
}

/** Characters that pass through unchanged. */
const plain = /[\p{L}\p{N}\p{M},.;:!?'"“”‘’…。，、；：！？「」『』《》—–%$€£&@+=/-]/u;
const invisible = /[\p{Cc}\p{Cf}\p{Variation_Selector}\u{20e3}]/u;
const pictures =
  /^(?:[\u2500-\u27bf]|\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Regional_Indicator}|[\u{e0020}-\u{e007f}])$/u;
const spokenPictures = /[©®™]/u;
const listMark = /^(?:[-+•*]|#{1,6}|\d{1,2}[.)])$/;
const tightMarks = /[,.;:!?…)\]，。；：！？、）]/u;

/** The filter of `speakable`, for text as it comes. */
export class SpeakableFilter {
  #held = '';
  #ended = false;
  /** White space seen since the last spoken character: none, a space, one or two line ends. */
  #gap = '';
  #removed = false;
  #fenced = false;
  #lineStart = true;
  #previous = '';
  #said = '';

  push(text: string): string {
    this.#held += text;
    return this.#advance();
  }

  end(): string {
    this.#ended = true;
    return this.#advance();
  }

  /**
   * Returns the white space behind the text so far, if a letter follows that is not here yet; it is not returned again.
   * Undefined if something may come between.
   */
  takeGap(): string | undefined {
    if (this.#held !== '' || this.#removed || this.#fenced || this.#said === '') return undefined;
    const gap = this.#gap;
    this.#gap = '';
    return gap;
  }

  #advance(): string {
    let output = '';
    let at = 0;
    while (at < this.#held.length) {
      const step = this.#step(at);
      if (step === undefined) break;
      const taken = this.#held.slice(at, at + step.take);
      output += step.say === '' ? this.#skip(taken) : this.#say(step.say);
      at += step.take;
      this.#previous = taken.at(-1) ?? this.#previous;
    }
    this.#held = this.#held.slice(at);
    return output;
  }

  #step(at: number): { readonly take: number; readonly say: string } | undefined {
    if (this.#fenced) return this.#stepInFence(at);
    const halfPair = isHighSurrogate(this.#held, at);
    if (halfPair && at + 1 === this.#held.length && !this.#ended) return undefined;
    const character = this.#held.slice(at, at + (halfPair ? 2 : 1));
    const rule = markupRules[this.#ruleKey(character)];
    if (rule !== undefined) {
      const context: MarkupContext = {
        lineStart: this.#lineStart,
        previous: this.#previous,
        said: this.#said,
        ended: this.#ended,
      };
      const step = rule(this.#held.slice(at, at + lookAheadCharacters), context);
      if (step?.fence === true) this.#fenced = true;
      return step;
    }
    const take = character.length;
    if (plain.test(character)) return { take, say: character };
    const dropped = invisible.test(character) || (pictures.test(character) && !spokenPictures.test(character));
    return { take, say: dropped || /\s/u.test(character) ? '' : character };
  }

  /** Letters and digits have a rule only where a link or a list item may begin. */
  #ruleKey(character: string): string {
    if (/[hH]/.test(character)) return /[\p{L}\p{N}]/u.test(this.#previous) ? '' : 'link';
    if (/[0-9]/.test(character)) return this.#lineStart ? 'number' : '';
    return character;
  }

  #stepInFence(at: number): { readonly take: number; readonly say: string } | undefined {
    const close = this.#held.indexOf('```', at);
    if (close >= 0) {
      this.#fenced = false;
      return { take: close + 3 - at, say: '' };
    }
    const take = this.#held.length - at - (this.#ended ? 0 : 2);
    return take > 0 ? { take, say: '' } : undefined;
  }

  #skip(taken: string): string {
    if (this.#fenced) {
      this.#removed = true;
    } else if (!/^\s+$/u.test(taken)) {
      this.#removed = true;
      if (taken === '|' && this.#gap === '') this.#gap = ' ';
      // A list item stands by itself, even if it begins in lower case.
      if (this.#gap === '\n' && listMark.test(taken)) this.#gap = '\n\n';
    } else if (taken.includes('\n')) {
      this.#lineStart = true;
      this.#gap = this.#gap.startsWith('\n') ? '\n\n' : '\n';
    } else if (this.#gap === '') {
      this.#gap = ' ';
    }
    return '';
  }

  #say(text: string): string {
    const tight = this.#said === '' || (this.#removed && tightMarks.test(text.charAt(0)) && this.#gap === ' ');
    const output = (tight ? '' : this.#gap) + text;
    this.#gap = '';
    this.#removed = false;
    this.#lineStart = false;
    this.#said = text.at(-1) ?? this.#said;
    return output;
  }
}

/** Not `codePointAt`: optimised by Node 24's Maglev, that reads past the end of a string sliced from a longer one. */
function isHighSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xd800 && unit < 0xdc00;
}
