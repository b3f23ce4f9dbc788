import type { CallOptions } from '../voices/engine.ts';
import type { Toolbox, ToolCall } from './tools.ts';

/**
 * One message of a talk, oldest first in a history. A message with calls is followed, before anything else, by one `tool`
 * message for each of them; there are no other `tool` messages.
 */
export type Message =
  | { readonly role: 'system' | 'user'; readonly text: string; readonly name?: undefined }
  /** `text` is empty where nothing was said beside the calls. */
  | {
      readonly role: 'assistant';
      readonly text: string;
      /** Who of several speaks, in a scene. */
      readonly name?: string;
      readonly calls?: readonly ToolCall[];
    }
  /** What a call brought back. */
  | { readonly role: 'tool'; readonly text: string; readonly callId: string; readonly name?: undefined };

/** Why the model stopped: done, out of tokens, or held back by a filter. */
export type ChatEnd = 'stop' | 'length' | 'filter';

export type ChatPart =
  | { readonly type: 'text-delta'; readonly text: string }
  /** A call, whole; calls come after all text. */
  | ({ readonly type: 'tool-call' } & ToolCall)
  | {
      readonly type: 'chat-end';
      readonly reason: ChatEnd;
      readonly inputTokens: number;
      readonly outputTokens: number;
    };

/** How the next word is chosen; absent means the default of whoever chooses. */
export interface Sampling {
  /** 0 (always the likeliest) to 2. */
  readonly temperature?: number;
  /** Share of the likeliest words that are in the draw, 0 to 1. */
  readonly topP?: number;
  /** The same seed is to give the same words. */
  readonly seed?: number;
  /** Up to four texts before the first of which the reply ends. */
  readonly stop?: readonly string[];
}

/** Sampling and tools; absent means the server's own default, and no tools. */
export interface ChatSettings extends Sampling {
  readonly maxTokens?: number;
  readonly toolbox?: Toolbox;
  /** For what nobody waits for: waits until nobody calls the model, and is cut with `GaveWay` as soon as somebody does. */
  readonly background?: boolean;
}

/**
 * A language model: text deltas, calls of the toolbox's functions, then exactly one `chat-end`. Throws `EngineError`, or
 * `signal.reason` when aborted.
 */
export interface ChatModel {
  readonly name: string;
  chat(messages: readonly Message[], options: CallOptions & ChatSettings): AsyncIterable<ChatPart>;
}
