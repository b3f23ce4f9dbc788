import type { ToolCall } from '../../../agents/tools.ts';
import type { Emotion } from '../../../characters/emotion.ts';
import type { PlacedCue } from './cues.ts';
import type { TimedWord } from '../../../voices/synthesizer.ts';

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
}

/**
 * Describes the repetition after a hold: the reply resumes from the start of a clause, after all that had been sent.
 */
export interface Repeat {
  /**
   * Playback position at the hold: words from here to `untilMs` were not heard, and play `laterMs` later than planned.
   */
  fromMs: number;
  /** Sent audio at the hold. */
  readonly untilMs: number;
  readonly laterMs: number;
}

/** A written content part. */
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

/** A message, spoken or written. */
export interface MessageItem extends BaseItem {
  readonly type: 'message';
  readonly role: 'system' | 'user' | 'assistant';
  /** Emotion with which the message begins, if the LLM gave one. */
  readonly emotion?: Emotion | undefined;
  /** The participant that speaks, in a scene. */
  readonly speaker?: Speaker | undefined;
  /** Stage directions: what the character did and thought meanwhile. */
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

/** The result of a function call. */
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
