import type { CallOptions } from '../engine.ts';
import type { EngineContext } from './context.ts';
import { openDeadline } from './deadline.ts';
import type { EngineProcess } from '../runtime/process.ts';

const advice = 'Its process hangs, or this machine is too slow or too busy for the model: use a smaller one.';

/** One request to an engine process, with timeouts after loading: errors of native threads are lost. */
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
