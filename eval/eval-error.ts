/** Error that a user of the harness can fix; the message says how. */
export class EvalError extends Error {
  override readonly name = 'EvalError';
  readonly code: string;

  /** `code` is exposed with the prefix `eval_`. */
  constructor(code: 'usage' | 'data' | 'log' | 'judge' | 'agent' | 'busy' | 'jobs', message: string, cause?: unknown) {
    super(message, { cause });
    this.code = `eval_${code}`;
  }
}
