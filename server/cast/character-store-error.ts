import type { Problem } from '../session/contract/events.ts';

/**
 * Refusal of an operation on the characters of a server. The message is shown to the user unchanged, in a response
 * or on the terminal.
 */
export class CharacterStoreError extends Error {
  readonly status: 403 | 404 | 409 | 412 | 413 | 503;
  readonly problem: Problem;

  constructor(status: CharacterStoreError['status'], problem: Problem) {
    super(problem.message);
    this.status = status;
    this.problem = problem;
  }

  get code(): Problem['code'] {
    return this.problem.code;
  }
}
