/** A function that the client offers a mind, as OpenAI's APIs describe one. */
export interface Tool {
  readonly name: string;
  readonly description?: string;
  /** JSON schema of its arguments. */
  readonly parameters?: Readonly<Record<string, unknown>>;
}

/** Whether a mind calls a function: if it likes, not at all, at least one, or this one. */
export type ToolChoice = 'auto' | 'none' | 'required' | { readonly name: string };

/** What a mind may call in one reply. */
export interface Toolbox {
  readonly tools: readonly Tool[];
  readonly choice: ToolChoice;
  /** Whether it may call several at once. */
  readonly parallel: boolean;
}

/** A mind's wish that a function be called. `arguments` is a JSON object, as text. */
export interface ToolCall {
  readonly callId: string;
  readonly name: string;
  readonly arguments: string;
}
