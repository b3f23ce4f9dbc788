import type { CallOptions } from '../engine.ts';
import type { EngineContext } from './context.ts';
import { openDeadline } from './deadline.ts';
import type { EngineProcess } from '../runtime/process.ts';

const advice = 'Its process hangs, or this machine is too slow or too busy for the model: use a smaller one.';

/**
 * Makes one request to an engine in its own process, subject to the call timeouts: an error thrown in one of its native
 * threads is lost, and the promise never settles. Waits for loading without a limit.
 */
export async function* streamWithTimeouts<Request, Part>(
  engine: EngineProcess<Request, Part>,
  { load, request }: { readonly load: Request; readonly request: Request },
  { name, timeouts, signal }: Pick<EngineContext, 'name' | 'timeouts'> & CallOptions,
): AsyncGenerator<Part> {
  await engine.once(load, { signal });
  const deadline = openDeadline(name, advice);
  deadline.expect(timeouts.firstByteMs);
  try {
    for await (const part of engine.stream(request, { signal: AbortSignal.any([signal, deadline.signal]) })) {
      deadline.clear();
      yield part;
      deadline.expect(timeouts.betweenBytesMs);
    }
  } finally {
    deadline.clear();
  }
}
