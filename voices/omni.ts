import type { CallOptions } from './engine.ts';

/** Mono sound in [-1, 1]. */
export interface OmniSound {
  readonly samples: Float32Array;
  /** Hertz. */
  readonly sampleRate: number;
}

/** One message of a talk, oldest first. */
export interface OmniMessage {
  readonly role: 'system' | 'user' | 'assistant';
  /** What was said; with `sound`, what is to be known besides. May be empty then. */
  readonly text: string;
  /** What was said, in place of its words: of the user alone. */
  readonly sound?: OmniSound;
}

/** Words and sound of one reply, each in order; which comes first is the model's affair. */
export type OmniPart =
  | { readonly type: 'text-delta'; readonly text: string }
  | ({ readonly type: 'sound' } & OmniSound)
  | {
      readonly type: 'omni-end';
      /** Why it stopped: done, out of tokens, or held back by a filter. */
      readonly reason: 'stop' | 'length' | 'filter';
      readonly inputTokens: number;
      readonly outputTokens: number;
    };

/** What a reply is made with. */
export interface OmniOptions extends CallOptions {
  /** One of the model's own; absent: its default. */
  readonly voice?: string | undefined;
  /** False: words alone. */
  readonly speaks: boolean;
  readonly maxTokens?: number;
}

/**
 * A model that hears and speaks by itself: words and sound, then exactly one `omni-end`. What it says joined is its text. Throws
 * `EngineError`, or `signal.reason` when aborted.
 */
export interface OmniModel {
  readonly name: string;
  reply(messages: readonly OmniMessage[], options: OmniOptions): AsyncIterable<OmniPart>;
}
