/** A function that the client offers to a model, as OpenAI's APIs describe it. */
export interface Tool {
  readonly name: string;
  readonly description?: string;
  /** JSON schema of the arguments. */
  readonly parameters?: Readonly<Record<string, unknown>>;
}

/** Tool choice: optional, none, at least one, or this one. */
export type ToolChoice = 'auto' | 'none' | 'required' | { readonly name: string };

/** Tools available to one reply. */
export interface Toolbox {
  readonly tools: readonly Tool[];
  readonly choice: ToolChoice;
  /** True if several calls at once are allowed. */
  readonly parallel: boolean;
}

/** A model's request to call a function. `arguments` is a JSON object, as text. */
export interface ToolCall {
  readonly callId: string;
  readonly name: string;
  readonly arguments: string;
}
