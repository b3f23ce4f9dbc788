import type { CallOptions } from '../engine.ts';
import type { EngineContext } from './context.ts';
import { openDeadline } from './deadline.ts';
import type { EngineProcess } from '../runtime/process.ts';

const advice = 'Its process hangs, or this machine is too slow or too busy for the model: take a smaller one.';

/**
 * One request to an engine in a process, held to the timeouts of its calls: what native code throws in a thread of its own
 * is lost, and its promise stays open for good. Loading is waited for, however long it takes.
 */
export async function* timely<Request, Part>(
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
