import type { Message } from '../../../agents/chat.ts';
import { endsSentence } from '../../../agents/output/emotion-tags.ts';
import type { TimedWord } from '../../../voices/synthesizer.ts';
import {
  type CallItem,
  type PlacedCue,
  type SpokenContent,
  type Repeat,
  type MessageItem,
  type Item,
  charactersOf,
  withoutLongTexts,
  lengthOf,
  textOf,
} from '../contract/item.ts';

/** Total size of the pictures kept for `retrieve`: one of the largest that a client may send. */
const keptPictureCharacters = 16 * 1024 * 1024;

/** The items of a conversation. It holds what was heard, not what was generated. */
export class Conversation {
  readonly #items: Item[] = [];
  readonly #byId = new Map<string, Item>();
  /** Characters of each item when it was last measured: at its insertion, and when the next one is inserted. */
  readonly #sizes = new Map<string, number>();
  #characters = 0;
  #latest: Item | undefined;
  /** Audio kept for all items together, in milliseconds. */
  readonly keptAudioMs: number;
  /** Parts before truncation: the client may report the exact position after the server had to guess it. */
  readonly #uncut = new WeakMap<SpokenContent, SpokenContent>();
  /** Returns how the listeners hear what is said now; undefined if all hear every word. */
  heardBy: ((item: MessageItem) => MessageItem['heardBy']) | undefined;
  /** Called when a spoken item was truncated, perhaps again; `isFinal`: as the client says. */
  onCut: ((item: MessageItem, isFinal: boolean) => void) | undefined;

  /** `items`: history to continue. Audio older than the last `keptAudioMs` is forgotten; its text stays. */
  constructor(keptAudioMs: number, items: readonly Item[] = []) {
    this.keptAudioMs = keptAudioMs;
    for (const item of items) this.insert(item);
  }

  get items(): readonly Item[] {
    return this.#items;
  }

  /** The character's last line, and what the user has said since: a turn that was cut into continues. */
  get latest(): { readonly line?: string; readonly said: string } {
    let said = '';
    for (const item of this.#items.toReversed()) {
      const text = item.type === 'message' && item.role !== 'system' ? textOf(item) : '';
      if (text === '' || item.type !== 'message') continue;
      if (item.role === 'assistant') return { line: text, said };
      said = said === '' ? text : `${text} ${said}`;
    }
    return { said };
  }

  get(id: string): Item | undefined {
    return this.#byId.get(id);
  }

  /** Text of all items, in characters; each content part counts some more for what it takes to hold it. */
  get characters(): number {
    return this.#characters;
  }

  /** Inserts after the item `after`, at the front for `root`, at the end by default. Returns the id before it. */
  insert(item: Item, after?: string): string | null {
    const place = after === undefined ? this.#items.length : after === 'root' ? 0 : this.#placeOf(after) + 1;
    const heardBy = item.type === 'message' ? this.heardBy?.(item) : undefined;
    if (item.type === 'message' && heardBy !== undefined) item.heardBy = heardBy;
    this.#items.splice(place, 0, item);
    this.#byId.set(item.id, item);
    // What a reply says is known by the time that the next item comes.
    if (this.#latest !== undefined) this.#measure(this.#latest);
    this.#latest = item;
    this.#measure(item);
    return this.#items[place - 1]?.id ?? null;
  }

  /** True if the item right before this one is speech of the user; false if the client has deleted it. */
  answersSpeech(id: string): boolean {
    const before = this.#byId.has(id) ? this.#items[this.#placeOf(id) - 1] : undefined;
    return before?.type === 'message' && before.role === 'user' && before.content.some(({ type }) => type === 'audio');
  }

  delete(id: string): void {
    this.#items.splice(this.#placeOf(id), 1);
    this.#byId.delete(id);
    this.#characters -= this.#sizes.get(id) ?? 0;
    this.#sizes.delete(id);
  }

  /**
   * Truncates the transcript of a spoken part to the words that began before `heardMs`. One truncated before is
   * truncated again from its original, unless that was final, as by the client. Returns the length left, in ms.
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
      if (uncut.words.length > 0 || heardMs === 0) part.transcript = uncut.breaksOff ? brokenOff(text) : text.trimEnd();
      part.words = heard;
      part.durationMs = Math.min(heardMs, uncut.durationMs);
      part.audio = cutAudio(uncut.audio, Math.round((heardMs / 1000) * part.sampleRate));
    }
    // Of what was cut for good, nothing more is heard.
    const leftMs = Math.min(heardMs, uncut.durationMs);
    for (const { action, startMs } of item.cues ?? []) {
      if (action === undefined) continue;
      const isLast = startMs >= uncut.durationMs - 1 && leftMs >= startMs - 1;
      action.isOff = !isLast && soundsAtMs({ startMs: startMs + fadeMs }, leftMs, uncut.repeat) >= leftMs;
    }
    this.onCut?.(item, isFinal);
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

  #measure(item: Item): void {
    if (this.#byId.get(item.id) !== item) return;
    const size = charactersOf(item);
    this.#characters += size - (this.#sizes.get(item.id) ?? 0);
    this.#sizes.set(item.id, size);
  }

  #placeOf(id: string): number {
    const item = this.#byId.get(id);
    if (item === undefined) throw new RangeError('no such item');
    return this.#items.indexOf(item);
  }
}

/** Clients fade out where they stop: an action of a word that begins in these milliseconds does not take place. */
const fadeMs = 6;

/** Returns what was heard of a line that was broken off: with a dash, unless that was a whole sentence. */
function brokenOff(text: string): string {
  const said = text.trimEnd();
  return said === '' || endsSentence(said) ? said : `${said.replace(/\p{P}+$/u, '')}—`;
}

/** Returns when a word plays, for a listener who has heard the item up to `heardMs`. */
function soundsAtMs({ startMs }: Pick<TimedWord, 'startMs'>, heardMs: number, repeat: Repeat | undefined): number {
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

const noResultYet = 'There is no result yet.';

/**
 * Builds the history for the LLM: oldest first, without messages that have no words. A tool call is directly before
 * its result. A call without a result says so, so that it is not repeated; a result without its call is left out.
 */
export function messagesOf(items: readonly Item[]): Message[] {
  const outputs = new Map(items.flatMap((item) => (item.type === 'call-output' ? [[item.callId, item.output]] : [])));
  const messages: Message[] = [];
  let calls: CallItem[] = [];
  const closeCalls = (): void => {
    if (calls.length > 0) messages.push(...answered(calls, outputs));
    calls = [];
  };
  for (const item of items) {
    // Adjacent calls were made at once.
    if (item.type === 'call') calls.push(item);
    else if (item.type !== 'opaque') closeCalls();
    if (item.type !== 'message') continue;
    const text = textOf(item);
    if (text === '') continue;
    const { role, speaker } = item;
    const heard = item.heardBy && { heardBy: item.heardBy };
    if (role === 'user') messages.push({ role, text, ...(speaker && { by: speaker.name }), ...heard });
    else if (role === 'system') messages.push({ role, text });
    else messages.push({ role, ...(speaker && { name: speaker.name }), text: actedText(item, text), ...heard });
  }
  closeCalls();
  return messages;
}

function answered(calls: readonly CallItem[], outputs: ReadonlyMap<string, string>): Message[] {
  return [
    {
      role: 'assistant',
      text: '',
      calls: calls.map(({ callId, name, arguments: text }) => ({ callId, name, arguments: text })),
    },
    ...calls.map(({ callId }): Message => ({ role: 'tool', callId, text: outputs.get(callId) ?? noResultYet })),
  ];
}

/**
 * Returns the text of a character's message as a chat model reads it: its actions in the game stand where they took
 * place; in a scene, all actions, which the others saw, stand before the words, which they heard.
 */
function actedText(item: MessageItem, text: string): string {
  const seen = (item.cues ?? []).filter(({ kind, action }) => kind === 'action' && action?.isOff !== true);
  const part = item.content[0];
  const words = part?.type === 'audio' && item.content.length === 1 ? part.words : [];
  const isPlaced = ({ action, startMs }: PlacedCue): boolean =>
    action !== undefined && (words[0]?.startMs ?? 0) < startMs;
  const first = seen.filter((cue) => !isPlaced(cue) && (cue.action ?? item.speaker) !== undefined);
  const placed = seen.filter(isPlaced);
  if (placed.length === 0) return [...first.map(writtenCue), text].join(' ');
  let told = '';
  for (const word of words) {
    for (const cue of placed.splice(0, placed.filter(({ startMs }) => startMs <= word.startMs).length))
      told = `${told.trimEnd()} ${writtenCue(cue)} `;
    told += word.text;
  }
  const dash = text.endsWith('—') && !told.trimEnd().endsWith('—') ? '—' : '';
  return [...first.map(writtenCue), told.trim() + dash, ...placed.map(writtenCue)].join(' ');
}

function writtenCue({ text, action }: PlacedCue): string {
  return `(${action?.written ?? text})`;
}
