import type { CallOptions } from '../voices/engine.ts';
import type { Toolbox, ToolCall } from './tools.ts';

/** Clarity with which those listeners heard it that did not hear every word, by id; see `scene/hearing.ts`. */
type HeardBy = Readonly<Record<string, number>> | undefined;

/** One message, oldest first in a history. One with calls is followed by exactly one `tool` message for each. */
export type Message =
  | { readonly role: 'system'; readonly text: string; readonly name?: undefined }
  | {
      readonly role: 'user';
      readonly text: string;
      readonly name?: undefined;
      /** Name of the player who said it, if the session has several. */
      readonly by?: string | undefined;
      readonly heardBy?: HeardBy;
    }
  /** `text` is empty if there was nothing but the calls. */
  | {
      readonly role: 'assistant';
      readonly text: string;
      /** The speaker, if several characters share a scene. */
      readonly name?: string;
      readonly calls?: readonly ToolCall[];
      readonly heardBy?: HeardBy;
    }
  /** Output of a tool call. */
  | { readonly role: 'tool'; readonly text: string; readonly callId: string; readonly name?: undefined };

/** Reason the model stopped: done, out of tokens, or content filter. */
export type ChatEnd = 'stop' | 'length' | 'filter';

export type ChatPart =
  | { readonly type: 'text-delta'; readonly text: string }
  /** A complete tool call; calls come after all text. */
  | ({ readonly type: 'tool-call' } & ToolCall)
  | {
      readonly type: 'chat-end';
      readonly reason: ChatEnd;
      readonly inputTokens: number;
      readonly outputTokens: number;
    };

/** Sampling parameters; absent means the next layer's default. */
export interface Sampling {
  /** 0 (greedy) to 2. */
  readonly temperature?: number;
  /** Nucleus sampling: share of probability mass to draw from, 0 to 1. */
  readonly topP?: number;
  /** The same seed should give the same text. */
  readonly seed?: number;
  /** Up to four stop sequences; the reply ends before the first of them. */
  readonly stop?: readonly string[];
}

/** Sampling, tools and limits; absent means the server's default, and no tools. */
export interface ChatSettings extends Sampling {
  readonly maxTokens?: number;
  readonly toolbox?: Toolbox;
  /** Background work: waits until there is no other call of the model; aborted with `GaveWay` as soon as there is one. */
  readonly background?: boolean;
  /**
   * The beginning of the answer, which was said before. A model that can continue it yields it first, then the rest; any
   * other answers afresh.
   */
  readonly begun?: string;
}

/** A language model: text deltas, tool calls, then one `chat-end`. Throws `EngineError`, or `signal.reason`. */
export interface ChatModel {
  readonly name: string;
  chat(messages: readonly Message[], options: CallOptions & ChatSettings): AsyncIterable<ChatPart>;
}
