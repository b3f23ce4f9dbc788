import type { CallOptions } from '../voices/engine.ts';

/** One thing said, oldest first in a history. */
export interface Message {
  readonly role: 'system' | 'user' | 'assistant';
  readonly text: string;
}

/** Why the model stopped: done, out of tokens, or held back by a filter. */
export type ChatEnd = 'stop' | 'length' | 'filter';

export type ChatPart =
  | { readonly type: 'text-delta'; readonly text: string }
  | {
      readonly type: 'chat-end';
      readonly reason: ChatEnd;
      readonly inputTokens: number;
      readonly outputTokens: number;
    };

/** Sampling settings; absent means the server's own default. */
export interface ChatSettings {
  readonly temperature?: number;
  readonly topP?: number;
  readonly maxTokens?: number;
  readonly seed?: number;
}

/** A language model: text deltas, then exactly one `chat-end`. Throws `EngineError`, or `signal.reason` when aborted. */
export interface ChatModel {
  readonly name: string;
  chat(messages: readonly Message[], options: CallOptions & ChatSettings): AsyncIterable<ChatPart>;
}
