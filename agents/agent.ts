import type { Character } from '../characters/character.ts';
import type { CallOptions } from '../voices/engine.ts';
import type { Message } from './chat.ts';

/**
 * `mind` comes first and names who is answering; a second one means that the first failed (`because`, an engine error
 * code) and another mind goes on: text of the first that was not spoken yet is to be dropped.
 */
export type ReplyPart =
  | { readonly type: 'mind'; readonly name: string; readonly because?: string }
  | { readonly type: 'text-delta'; readonly text: string }
  | { readonly type: 'usage'; readonly inputTokens: number; readonly outputTokens: number; readonly cutShort: boolean };

/** What a reply is made for. */
export interface AgentOptions extends CallOptions {
  /** Where the talk takes place and what it is about, set by whoever runs it; it never outranks the persona. */
  readonly scene?: string;
  readonly maxTokens?: number;
  /** A turn that needs no thought: nobody has spoken yet, or what was said could not be understood. */
  readonly situation?: 'greeting' | 'unclear';
}

/** Who answers as a character. Stateless: the history is an argument, oldest first, and ends with what was just said. */
export interface CharacterAgent {
  readonly character: Character;
  /** Throws `EngineError`, or `signal.reason` when aborted. */
  reply(history: readonly Message[], options: AgentOptions): AsyncIterable<ReplyPart>;
}
