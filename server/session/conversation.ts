import type { Message } from '../../agents/chat.ts';
import type { TimedWord } from '../../voices/synthesizer.ts';

/** Something said in speech: what was understood (null until known), and the sound where it is kept. */
export interface SpokenContent {
  readonly type: 'audio';
  transcript: string | null;
  durationMs: number;
  /** Blocks of mono 16-bit samples at `sampleRate`, dropped first when memory is short. */
  audio: Int16Array[];
  readonly sampleRate: number;
  /** Assistant only: when each word sounds, from the start of the item. */
  words: TimedWord[];
}

/** Something written. */
export interface WrittenContent {
  readonly type: 'text';
  text: string;
}

/** One message of the conversation, in the order they stand in its history. */
export interface Item {
  readonly id: string;
  readonly role: 'system' | 'user' | 'assistant';
  status: 'in_progress' | 'completed' | 'incomplete';
  readonly content: (SpokenContent | WrittenContent)[];
}

/** What one item says, as text; empty where nothing was understood. */
export function textOf(item: Item): string {
  return item.content
    .map((part) => (part.type === 'text' ? part.text : (part.transcript ?? '')))
    .join('\n')
    .trim();
}

/** The items of a conversation. It holds what was heard, not what was generated. */
export class Conversation {
  readonly #items: Item[] = [];
  readonly #keptAudioMs: number;

  /** `items`: a conversation to go on with. Audio older than the last `keptAudioMs` of the conversation's sound is forgotten; its text stays. */
  constructor(keptAudioMs: number, items: readonly Item[] = []) {
    this.#keptAudioMs = keptAudioMs;
    this.#items.push(...items);
  }

  get items(): readonly Item[] {
    return this.#items;
  }

  get(id: string): Item | undefined {
    return this.#items.find((item) => item.id === id);
  }

  /** Inserts after the item `after`, at the front for `root`, at the end by default. Returns the id before it, or null. */
  insert(item: Item, after?: string): string | null {
    const place = after === undefined ? this.#items.length : after === 'root' ? 0 : this.#placeOf(after) + 1;
    this.#items.splice(place, 0, item);
    return this.#items[place - 1]?.id ?? null;
  }

  delete(id: string): void {
    this.#items.splice(this.#placeOf(id), 1);
  }

  /** The history a mind is given: oldest first, items without words left out. */
  messages(): Message[] {
    return this.#items.flatMap((item) => {
      const text = textOf(item);
      return text === '' ? [] : [{ role: item.role, text }];
    });
  }

  /** Cuts what was said aloud to the words that began before `heardMs`. Returns the length that is left, in milliseconds. */
  truncate(item: Item, heardMs: number): number {
    let leftMs = 0;
    for (const part of item.content) {
      if (part.type !== 'audio') continue;
      leftMs = Math.min(part.durationMs, heardMs);
      if (part.durationMs <= heardMs) continue;
      const heard = part.words.filter((word) => word.startMs < heardMs);
      if (part.words.length > 0)
        part.transcript = heard
          .map((word) => word.text)
          .join('')
          .trimEnd();
      part.words = heard;
      part.durationMs = heardMs;
      part.audio = cutAudio(part.audio, Math.round((heardMs / 1000) * part.sampleRate));
    }
    return Math.round(leftMs);
  }

  /** Forgets the oldest sound beyond the limit. */
  forgetOldAudio(): void {
    let keptMs = 0;
    for (const item of this.#items.toReversed()) {
      for (const part of item.content) {
        if (part.type !== 'audio') continue;
        keptMs += part.durationMs;
        if (keptMs > this.#keptAudioMs) part.audio = [];
      }
    }
  }

  #placeOf(id: string): number {
    const place = this.#items.findIndex((item) => item.id === id);
    if (place < 0) throw new RangeError('no such item');
    return place;
  }
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
