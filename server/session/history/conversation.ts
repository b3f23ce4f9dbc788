import type { TimedWord } from '../../../voices/synthesizer.ts';
import {
  type SpokenContent,
  type Repeat,
  type MessageItem,
  type Item,
  withoutLongTexts,
  lengthOf,
} from '../contract/item.ts';

/** Total size of the pictures kept for `retrieve`: one of the largest that a client may send. */
const keptPictureCharacters = 16 * 1024 * 1024;

/** The items of a conversation. It holds what was heard, not what was generated. */
export class Conversation {
  readonly #items: Item[] = [];
  /** Audio kept for all items together, in milliseconds. */
  readonly keptAudioMs: number;
  /**
   * Parts as they were before truncation: the client may report the exact position after the server had to guess it.
   */
  readonly #uncut = new WeakMap<SpokenContent, SpokenContent>();

  /**
   * `items`: history of a conversation to continue. Audio older than the last `keptAudioMs` of the conversation's audio
   * is forgotten; its text stays.
   */
  constructor(keptAudioMs: number, items: readonly Item[] = []) {
    this.keptAudioMs = keptAudioMs;
    this.#items.push(...items);
  }

  get items(): readonly Item[] {
    return this.#items;
  }

  get(id: string): Item | undefined {
    return this.#items.find((item) => item.id === id);
  }

  /**
   * Inserts after the item `after`, at the front for `root`, at the end by default. Returns the id before it, or null.
   */
  insert(item: Item, after?: string): string | null {
    const place = after === undefined ? this.#items.length : after === 'root' ? 0 : this.#placeOf(after) + 1;
    this.#items.splice(place, 0, item);
    return this.#items[place - 1]?.id ?? null;
  }

  delete(id: string): void {
    this.#items.splice(this.#placeOf(id), 1);
  }

  /**
   * Truncates the transcript of one spoken content part to the words that began before `heardMs`. A part that was
   * truncated before is truncated again from its original; unless that was final, as a truncation by the client is.
   * Returns the length that is left, in milliseconds.
   */
  truncate(item: MessageItem, heardMs: number, contentIndex = 0, isFinal = false): number {
    const part = item.content[contentIndex];
    if (part?.type !== 'audio') return 0;
    const uncut = this.#uncut.get(part) ?? { ...part };
    // Part of a repetition may never have been sent.
    if (heardMs >= uncut.durationMs && uncut.repeat === undefined) Object.assign(part, uncut);
    else {
      this.#uncut.set(part, uncut);
      const heard = uncut.words.filter((word) => soundsAtMs(word, heardMs, uncut.repeat) < heardMs);
      const text = heard.map((word) => word.text).join('');
      if (uncut.words.length > 0) part.transcript = text.trimEnd();
      part.words = heard;
      part.durationMs = Math.min(heardMs, uncut.durationMs);
      part.audio = cutAudio(uncut.audio, Math.round((heardMs / 1000) * part.sampleRate));
    }
    if (isFinal) this.#uncut.delete(part);
    return Math.round(part.durationMs);
  }

  /** Forgets the oldest audio and the oldest pictures beyond their limits. */
  forgetOldMedia(): void {
    let keptMs = 0;
    let keptCharacters = 0;
    for (const item of this.#items.toReversed()) {
      for (const part of item.type === 'message' ? item.content : []) {
        if (part.type === 'audio' && part.audio.length > 0) {
          const uncut = this.#uncut.get(part);
          const { audio, sampleRate } = uncut ?? part;
          keptMs += (audio.reduce((sum, { length }) => sum + length, 0) / sampleRate) * 1000;
          if (Math.floor(keptMs) <= this.keptAudioMs) continue;
          part.audio = [];
          if (uncut !== undefined) uncut.audio = [];
        } else if (part.type === 'opaque') {
          keptCharacters += Object.values(part.value).reduce<number>((sum, field) => sum + lengthOf(field), 0);
          if (keptCharacters > keptPictureCharacters) part.value = withoutLongTexts(part.value);
        }
      }
    }
  }

  #placeOf(id: string): number {
    const place = this.#items.findIndex((item) => item.id === id);
    if (place < 0) throw new RangeError('no such item');
    return place;
  }
}

/** Returns when a word plays, for a listener who has heard the item up to `heardMs`. */
function soundsAtMs({ startMs }: TimedWord, heardMs: number, repeat: Repeat | undefined): number {
  if (repeat === undefined || heardMs <= repeat.untilMs) return startMs;
  return startMs >= repeat.fromMs && startMs < repeat.untilMs ? startMs + repeat.laterMs : startMs;
}

function cutAudio(blocks: readonly Int16Array[], samples: number): Int16Array[] {
  const kept: Int16Array[] = [];
  let left = samples;
  for (const block of blocks) {
    if (left <= 0) break;
    kept.push(left >= block.length ? block : block.slice(0, left));
    left -= block.length;
  }
  return kept;
}
