/** What a user of the harness can mend; the message says how. */
export class EvalError extends Error {
  override readonly name = 'EvalError';
  readonly code: string;

  /** `code` is one of a few words: `usage`, `data`, `log`, `judge`, `agent`, `busy`. */
  constructor(code: 'usage' | 'data' | 'log' | 'judge' | 'agent' | 'busy', message: string, cause?: unknown) {
    super(message, { cause });
    this.code = `eval_${code}`;
  }
}
