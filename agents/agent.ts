import type { Character } from '../characters/character.ts';
import type { Felt } from '../characters/emotion.ts';
import type { CallOptions } from '../voices/engine.ts';
import type { ChatEnd, Message, Sampling } from './chat.ts';
import type { Feelings } from './feelings.ts';
import type { Cue } from './output/performance.ts';
import type { RecipeName } from './recipe-names.ts';
import type { SurroundingsOf } from './surroundings.ts';
import type { Violation } from './violation.ts';
import type { Toolbox, ToolCall } from './tools.ts';

/**
 * One part of a streamed reply. `reply-source` comes first and names the LLM, or what answers in its place. A second one
 * means that the first failed (`because`: the engine error code): drop its text that was not spoken yet, and its tool
 * calls. Tool calls come after all text. `emotion` applies to all text until the next `emotion`. `next`: the character that
 * follows, if the text behind it is held back.
 */
export type ReplyPart =
  | { readonly type: 'reply-source'; readonly name: string; readonly because?: string }
  | ({ readonly type: 'text-delta'; readonly text: string; readonly next?: string | undefined } & Felt)
  /** Not spoken; placed after the text before it. */
  | ({ readonly type: 'cue' } & Cue)
  | ({ readonly type: 'tool-call' } & ToolCall)
  /** `cutShort`: the reason if the reply is incomplete. */
  | ({ readonly type: 'usage'; readonly cutShort: CutShort } & Cost);

/** Tokens that a model has read and written for a reply: its own count, or an estimate if it reports none. */
export interface Cost {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Out of tokens, or stopped by the model's content filter; false if neither. */
export type CutShort = false | Exclude<ChatEnd, 'stop'>;

/** Knowledge of a character in a scene, besides the scene itself. */
export interface Circumstance {
  /** The character's goal, which it keeps to itself. */
  readonly motivation: string;
  /** The other participants. */
  readonly others: readonly { readonly name: string; readonly profile: string }[];
  /** Scripted line to say now if the reply source is not an LLM. */
  readonly line?: string;
}

/** Inputs of a reply. */
export interface AgentOptions extends CallOptions {
  /** Setting and subject of the conversation, given by the application. Never overrides the persona. */
  readonly scene?: string;
  readonly maxTokens?: number;
  /** Prompt recipe; absent means the server's default. */
  readonly recipe?: RecipeName;
  readonly situation?: Situation;
  /** Memories of the user, one line each. Ignored by reply sources without a prompt. */
  readonly memories?: readonly string[];
  /** The character's current feelings. */
  readonly feelings?: Feelings;
  /** Set if the character plays in a scene with others. */
  readonly circumstance?: Circumstance;
  /** Overrides the character's sampling. Ignored by reply sources that do not sample. */
  readonly sampling?: Sampling;
  /** The beginning of this reply that was said before a restart of the server; it is repeated, not said twice. */
  readonly heard?: string;
  /** Called with the cost so far: an aborted reply never reaches its `usage`. */
  readonly onCost?: (cost: Cost) => void;
  /** Called for each sentence that a guardrail held back. */
  readonly onViolation?: (violation: Violation) => void;
  /** Surroundings in the client's game, by the character's id; absent if there is no game. */
  readonly surroundings?: SurroundingsOf | undefined;
  /** Tools the reply may call, besides speaking. Ignored by reply sources without tools. */
  readonly toolbox?: Toolbox;
}

/**
 * Turn without a user message: none yet (`greeting`), not understood (`unclear`), silence (`idle`), pause (`nod`), an
 * event of the game (`event`).
 */
export type Situation = 'greeting' | 'unclear' | 'idle' | 'nod' | 'event';

/** Answers as a character. Stateless: the history is an argument, oldest first, ending with the last user message. */
export interface CharacterAgent {
  readonly character: Character;
  /** Throws `EngineError`, or `signal.reason` when aborted. */
  reply(history: readonly Message[], options: AgentOptions): AsyncIterable<ReplyPart>;
}
