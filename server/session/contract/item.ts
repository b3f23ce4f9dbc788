import type { ToolCall } from '../../../agents/tools.ts';
import type { Emotion } from '../../../characters/emotion.ts';
import type { TimedWord } from '../../../voices/synthesizer.ts';
import { writeInt16 } from '../../../voices/audio.ts';
import type { Cue } from '../../../agents/output/performance.ts';

/** A spoken content part: its transcript (null until known), and its audio if it is kept. */
export interface SpokenContent {
  readonly type: 'audio';
  transcript: string | null;
  durationMs: number;
  /** Blocks of mono 16-bit samples at `sampleRate`, dropped first when memory is short. */
  audio: Int16Array[];
  readonly sampleRate: number;
  /** Assistant only: word timings, from the start of the item. */
  words: TimedWord[];
  /** Assistant only: the part that was spoken a second time. */
  repeat?: Repeat;
  /** Assistant only: an event of the game broke it off, so what was heard ends with a dash. */
  breaksOff?: true;
}

/** Repetition after a hold: the reply resumes from the start of a clause, after all that had been sent. */
export interface Repeat {
  /** Playback position at the hold: words from here to `untilMs` were not heard, and play `laterMs` later. */
  fromMs: number;
  /** Sent audio at the hold. */
  readonly untilMs: number;
  readonly laterMs: number;
}

export interface WrittenContent {
  readonly type: 'text';
  text: string;
}

/** A content part kept for the client as it came, such as a picture; never shown to the LLM. */
export interface OpaqueContent {
  readonly type: 'opaque';
  /** Loses its long texts when memory is short. */
  value: Readonly<Record<string, unknown>>;
}

interface BaseItem {
  readonly id: string;
  status: 'in_progress' | 'completed' | 'incomplete';
}

/** A participant of a scene, as the speaker of an item. */
export interface Speaker {
  readonly id: string;
  readonly name: string;
}

export interface MessageItem extends BaseItem {
  readonly type: 'message';
  readonly role: 'system' | 'user' | 'assistant';
  /** Emotion with which the message begins, if there is one, and how strong it is, from 0 to 1. */
  readonly emotion?: Emotion | undefined;
  readonly intensity?: number | undefined;
  /** The participant that speaks, in a scene. */
  readonly speaker?: Speaker | undefined;
  /** Clarity with which those heard it that did not hear every word, by id; see `agents/scene/hearing.ts`. */
  heardBy?: Readonly<Record<string, number>> | undefined;
  /** Stage directions: what the character did and thought while it spoke. */
  cues?: PlacedCue[];
  readonly content: (SpokenContent | WrittenContent | OpaqueContent)[];
}

/** Returns a complete message of the user's, except for its content. */
export function userMessage(id: string): Omit<MessageItem, 'content'> {
  return { id, type: 'message', role: 'user', status: 'completed' };
}

/** A function call that the character asks the client to make. */
export interface CallItem extends BaseItem, ToolCall {
  readonly type: 'call';
}

export interface CallOutputItem extends BaseItem {
  readonly type: 'call-output';
  readonly callId: string;
  readonly output: string;
}

/** An item kept for the client as it came; never shown to the LLM. */
export interface OpaqueItem extends BaseItem {
  readonly type: 'opaque';
  readonly value: Readonly<Record<string, unknown>>;
}

/** A conversation item, in the order of the history. */
export type Item = MessageItem | CallItem | CallOutputItem | OpaqueItem;

/** Returns the text of one item; empty if nothing was recognized. */
export function textOf(item: Item): string {
  if (item.type !== 'message') return '';
  return item.content
    .map((part) => (part.type === 'text' ? part.text : part.type === 'audio' ? (part.transcript ?? '') : ''))
    .join('\n')
    .trim();
}

/** Returns the value without texts that are too long to be sent around, such as a picture in base64. */
export function withoutLongTexts(value: OpaqueContent['value']): OpaqueContent['value'] {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => lengthOf(field) <= longestTextSent));
}

export function lengthOf(field: unknown): number {
  return typeof field === 'string' ? field.length : (JSON.stringify(field) ?? '').length;
}

const longestTextSent = 4_000;

/** Memory of an item or a content part beside its text, as characters. */
const overheadCharacters = 128;

/** Returns the size of an item in characters; without its audio and its pictures, which have limits of their own. */
export function charactersOf(item: Item): number {
  return overheadCharacters + (item.type === 'message' ? messageCharacters(item) : otherCharacters(item));
}

function messageCharacters({ content, cues = [] }: MessageItem): number {
  const parts = content.map((part) => {
    if (part.type === 'opaque') return charactersOfValue(part.value);
    return (part.type === 'text' ? part.text : (part.transcript ?? '')).length;
  });
  const texts = [...parts, ...cues.map(({ text }) => text.length)];
  return texts.reduce((sum, characters) => sum + overheadCharacters + characters, 0);
}

function otherCharacters(item: Exclude<Item, MessageItem>): number {
  if (item.type === 'opaque') return charactersOfValue(item.value);
  return item.type === 'call' ? item.name.length + item.arguments.length : item.output.length;
}

function charactersOfValue(value: OpaqueContent['value']): number {
  return lengthOf(withoutLongTexts(value));
}

/** Appends audio to a content part. Keeps only the first `keptMs` of its audio, and none once it has been forgotten. */
export function addSound(part: SpokenContent, block: Int16Array, keptMs: number): void {
  const endMs = part.durationMs + (block.length / part.sampleRate) * 1000;
  const isKept = part.durationMs === 0 || part.audio.length > 0;
  // Sums of fractions may be slightly too large.
  if (isKept && Math.floor(endMs) <= keptMs) part.audio.push(block);
  part.durationMs = endMs;
}

/** The words of a reply, and the stretch of it that was audible while an overlap was heard. */
export interface Sounded {
  readonly words: readonly TimedWord[];
  readonly fromMs: number;
  readonly toMs: number;
  /** Its audio, as far as it is kept. */
  readonly spoken?: SpokenContent;
}

/** Allocates blocks of 16-bit samples that share buffers: a buffer for each would cost as much as its samples. */
export class Blocks {
  readonly #roomSamples: number;
  #room = new Int16Array(0);
  #filled = 0;

  constructor(roomSamples: number) {
    this.#roomSamples = roomSamples;
  }

  of(samples: Float32Array): Int16Array {
    if (this.#filled + samples.length > this.#room.length) {
      this.#room = new Int16Array(Math.max(this.#roomSamples, samples.length));
      this.#filled = 0;
    }
    const block = this.#room.subarray(this.#filled, this.#filled + samples.length);
    this.#filled += samples.length;
    writeInt16(samples, block, 0);
    return block;
  }
}

/** Merges blocks that are adjacent in one buffer; never copies. Returns as few blocks as possible. */
export function joined(blocks: readonly Int16Array[]): Int16Array[] {
  const all: Int16Array[] = [];
  for (const block of blocks) {
    const last = all.at(-1);
    const isNext = last?.buffer === block.buffer && last.byteOffset + last.byteLength === block.byteOffset;
    if (!isNext) all.push(block);
    else all[all.length - 1] = new Int16Array(block.buffer, last.byteOffset, last.length + block.length);
  }
  return all;
}

/** Returns speech of the user that was not recognized yet, if an item holds any. */
export function soundToHear(item: Item): SpokenContent | undefined {
  if (item.type !== 'message' || item.role !== 'user') return undefined;
  const content = item.content.find((part) => part.type === 'audio');
  return content?.transcript === null ? content : undefined;
}

/** A stage direction, and when it takes place in the audio of its item; 0 in written text. */
export interface PlacedCue extends Cue {
  readonly startMs: number;
  /** Set if it is an action that the game offered. */
  readonly action?: PlacedAction | undefined;
}

/** An action of the game's offer, as a character has chosen it. */
export interface PlacedAction {
  readonly id: string;
  readonly name: string;
  /** Id of an object of the world, or of a person. */
  readonly target?: string | undefined;
  readonly args: Readonly<Record<string, string | number | boolean>>;
  /** The form in which a chat model writes it, without its brackets. */
  readonly written: string;
  /** The participant that acts, in a scene. */
  readonly by?: Speaker | undefined;
  /** True if the reply was cut before its word was heard: it does not take place. */
  isOff?: boolean | undefined;
}

/** A stage direction that takes place after this many letters of the reply; see `lettersIn`. */
export interface WrittenCue extends Cue {
  readonly afterLetters: number;
}

/** Counts letters and digits of a text, which stay the same however it is changed for speech. */
export function lettersIn(text: string): number {
  return text.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
}

/** Stage directions of a reply that wait for the words they follow. */
export class WaitingCues {
  #waiting: WrittenCue[] = [];
  #letters = 0;

  add(cue: WrittenCue): void {
    this.#waiting.push(cue);
  }

  /** Returns those that take place as these words are said, in order, each at the start of the next word. */
  saying(words: readonly TimedWord[]): PlacedCue[] {
    const due: PlacedCue[] = [];
    for (const { text, startMs } of words) {
      if (lettersIn(text) > 0) due.push(...this.#take(startMs));
      this.#letters += lettersIn(text);
    }
    return due;
  }

  /** Returns those that take place before a written text. */
  writing(text: string): PlacedCue[] {
    const due = this.#take(0);
    this.#letters += lettersIn(text);
    return due;
  }

  /** Returns all that are left, at `endMs`: everything has been said. */
  rest(endMs: number): PlacedCue[] {
    this.#letters = Infinity;
    return this.#take(endMs);
  }

  /** Drops them: another reply source takes over, and the actions of the first are not carried out. */
  drop(): void {
    this.#waiting = [];
  }

  #take(startMs: number): PlacedCue[] {
    const count = this.#waiting.findIndex(({ afterLetters }) => afterLetters > this.#letters);
    const due = this.#waiting.splice(0, count < 0 ? this.#waiting.length : count);
    return due.map(({ kind, text }) => ({ kind, text, startMs }));
  }
}

/** Reports of a client on a conversation. */
export interface Report {
  readonly itemId: string;
  readonly reason?: string | undefined;
  readonly note?: string | undefined;
}

/** Words of a report. `by`: id of the character, in a scene. */
export interface ReportedWords {
  readonly role: 'system' | 'user' | 'assistant';
  readonly by: string | undefined;
  readonly text: string;
}
