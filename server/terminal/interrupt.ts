/** The reason of a signal that Ctrl-C aborts. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

/** A signal that Ctrl-C aborts; a second Ctrl-C ends the process at once. */
export function interruptSignal(): AbortSignal {
  const controller = new AbortController();
  process.once('SIGINT', () => controller.abort(new Interrupted('interrupted')));
  return controller.signal;
}
