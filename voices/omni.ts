import type { CallOptions } from './engine.ts';

/** Mono audio in [-1, 1]. */
export interface OmniAudio {
  readonly samples: Float32Array;
  /** Hertz. */
  readonly sampleRate: number;
}

/** One message of a conversation; messages are listed oldest first. */
export interface OmniMessage {
  readonly role: 'system' | 'user' | 'assistant';
  /** Text of the message; if `sound` is set, additional information, which may be empty. */
  readonly text: string;
  /** Audio of what was said, instead of its text; user messages only. */
  readonly sound?: OmniAudio;
}

/** Text and audio of one reply, each in order; the model decides how they interleave. */
export type OmniPart =
  | { readonly type: 'text-delta'; readonly text: string }
  | ({ readonly type: 'sound' } & OmniAudio)
  | {
      readonly type: 'omni-end';
      /** Stop reason: finished, out of tokens, or blocked by a filter. */
      readonly reason: 'stop' | 'length' | 'filter';
      readonly inputTokens: number;
      readonly outputTokens: number;
    };

/** Options of one reply. */
export interface OmniOptions extends CallOptions {
  /** One of the model's own voices; absent: the model's default. */
  readonly voice?: string | undefined;
  /** False: text only. */
  readonly speaks: boolean;
  readonly maxTokens?: number;
}

/** A speech-to-speech model: text and audio parts, then one `omni-end`. Throws `EngineError` or `signal.reason`. */
export interface OmniModel {
  readonly name: string;
  reply(messages: readonly OmniMessage[], options: OmniOptions): AsyncIterable<OmniPart>;
}
