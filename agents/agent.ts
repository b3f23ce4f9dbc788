import type { Character } from '../characters/character.ts';
import type { Emotion } from '../characters/emotion.ts';
import type { CallOptions } from '../voices/engine.ts';
import type { ChatEnd, Message, Sampling } from './chat.ts';
import type { Feelings } from './feelings.ts';
import type { Cue } from './output/performance.ts';
import type { RecipeName } from './recipe-names.ts';
import type { Slip } from './violation.ts';
import type { Toolbox, ToolCall } from './tools.ts';

/**
 * `mind` comes first and names who is answering; a second one means that the first failed (`because`, an engine error
 * code) and another mind goes on: text of the first that was not spoken yet is to be dropped, and its calls. Calls come
 * after all text: they say what the character does once it has spoken. `emotion`: how this text and what follows is said,
 * until another.
 */
export type ReplyPart =
  | { readonly type: 'mind'; readonly name: string; readonly because?: string }
  | { readonly type: 'text-delta'; readonly text: string; readonly emotion?: Emotion }
  /** Not spoken; it takes place after the text before it. */
  | ({ readonly type: 'cue' } & Cue)
  | ({ readonly type: 'tool-call' } & ToolCall)
  /** `cutShort`: why the reply ends before its time, if it does. */
  | ({ readonly type: 'usage'; readonly cutShort: CutShort } & Cost);

/** Tokens that a model has read and written for a reply: by its own count, or by estimate where it gives none. */
export interface Cost {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Out of tokens, or held back by a filter of the model; false where neither. */
export type CutShort = false | Exclude<ChatEnd, 'stop'>;

/** What a character in a scene knows, besides the scene itself. */
export interface Circumstance {
  /** What it wants, and tells nobody. */
  readonly motivation: string;
  /** Who else is there. */
  readonly others: readonly { readonly name: string; readonly profile: string }[];
  /** What the scene's script has it say now, where no model plays it. */
  readonly line?: string;
}

/** What a reply is made for. */
export interface AgentOptions extends CallOptions {
  /** Where the talk takes place and what it is about, set by whoever runs it; it never outranks the persona. */
  readonly scene?: string;
  readonly maxTokens?: number;
  /** How a model is told whom to play; absent means the server's own way. */
  readonly recipe?: RecipeName;
  readonly situation?: Situation;
  /** What the character remembers of whom it talks with, one line each. A mind that makes no prompt passes over it. */
  readonly memories?: readonly string[];
  /** How the character feels by now. */
  readonly feelings?: Feelings;
  /** Where the character plays in a scene with others. */
  readonly circumstance?: Circumstance;
  /** Instead of the character's own. A mind that samples nothing passes over it. */
  readonly sampling?: Sampling;
  /** Told what the reply has cost so far: one that is stopped does not come to its `usage`. */
  readonly onCost?: (cost: Cost) => void;
  /** Told of each sentence that was kept back because the character would not say it. */
  readonly onSlip?: (slip: Slip) => void;
  /** What the reply may call, besides being spoken. A mind that knows no tools passes over it. */
  readonly toolbox?: Toolbox;
}

/**
 * A turn that is no answer: nobody has spoken yet (`greeting`), what was said could not be understood (`unclear`), the user
 * has long been silent (`idle`), or has paused and will go on (`nod`: a word that shows somebody listens).
 */
export type Situation = 'greeting' | 'unclear' | 'idle' | 'nod';

/** Who answers as a character. Stateless: the history is an argument, oldest first, and ends with what was just said. */
export interface CharacterAgent {
  readonly character: Character;
  /** Throws `EngineError`, or `signal.reason` when aborted. */
  reply(history: readonly Message[], options: AgentOptions): AsyncIterable<ReplyPart>;
}
