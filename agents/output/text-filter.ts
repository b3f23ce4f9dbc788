/** Filters text deltas; `rest` flushes what was held back at the end. */
export interface TextFilter<Output> {
  add(delta: string): Output;
  rest(): Output;
}

/** A filter of text, after which a mark in it may end the output. */
export interface EndingFilter extends TextFilter<string> {
  /** True once the mark has come; no output follows. */
  hasEnded(): boolean;
}
