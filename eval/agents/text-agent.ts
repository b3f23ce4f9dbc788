import type { EvalContext } from '../task.ts';

/** A system's answer in a conversation, as text; spoken if it came over the live speech path. */
export interface TextAnswer {
  readonly text: string;
  /** The system's own text of an answer of which `text` is a recognizer's transcript. */
  readonly said?: string;
  /** The system's transcript of the user; null if it reports none or was given text. */
  readonly heard: string | null;
  /** Name in the run's audio store; null if the answer has no sound. */
  readonly audio: string | null;
  readonly firstAudioMs: number | null;
  /** As in `Answer`. */
  readonly fallback: string | null;
}

/** A conversation to open with a system. */
export interface TextScene {
  /** Id of the sample, for error messages and stored answers. */
  readonly sample: string;
  /** System prompt; the system's own if absent. */
  readonly system: string | undefined;
  readonly role: string;
  readonly language: 'en' | 'zh';
  readonly temperature?: number;
  readonly maxTokens?: number;
}

/** One conversation with a system. */
export interface TextConversation extends AsyncDisposable {
  /** The system's description of itself; null if it gives none. */
  readonly about: unknown;
  /** Adds an earlier turn, which the system did not answer. */
  remember(role: 'user' | 'assistant', text: string): void;
  /** Says something to the system, and resolves to its answer. */
  say(text: string): Promise<TextAnswer>;
}

/** A system under test that answers texts, written or spoken. */
export interface TextAgent {
  readonly name: string;
  /** Does a sample's work within the limits of the system; what may be done a second time is retried. */
  attempt<Result>(work: (context: EvalContext) => Promise<Result>, context: EvalContext): Promise<Result>;
  open(scene: TextScene, context: EvalContext): Promise<TextConversation>;
}
