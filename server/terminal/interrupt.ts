/** Abort reason of a signal aborted by Ctrl-C. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

/** Returns a signal aborted by Ctrl-C; a second Ctrl-C ends the process at once. */
export function interruptSignal(): AbortSignal {
  const controller = new AbortController();
  process.once('SIGINT', () => controller.abort(new Interrupted('interrupted')));
  return controller.signal;
}
