import { EngineError } from '../engine.ts';
import { carriedFault } from './carried-fault.ts';
import type { ProcessMessage, ProcessReply } from './process.ts';

/** The engine that runs in the process. */
export interface ProcessEngine<Data, Engine, Request, Part> {
  /** Called with the first request, and again with the next one if it failed. */
  load(data: Data): Promise<Engine>;
  /** Answers one request and settles when every part was sent; several may run concurrently. */
  answer(engine: Engine, request: Request, call: ProcessCall<Part>): Promise<void>;
}

/** One request in progress. */
export interface ProcessCall<Part> {
  /** Aborted when the caller has left; parts sent after that are dropped. */
  readonly signal: AbortSignal;
  readonly tell: (part: Part) => void;
}

/** The process's end of an `EngineProcess`. Errors arrive as `carriedFault` makes them. */
export function serveProcess<Data, Engine, Request, Part>(engine: ProcessEngine<Data, Engine, Request, Part>): void {
  if (process.send === undefined) throw new Error('this module runs only in a separate process');
  const running = new Map<number, AbortController>();
  let data: unknown;
  let loading: Promise<Engine> | undefined;
  const loaded = (): Promise<Engine> => {
    loading ??= engine.load(data as Data).then(
      (ready) => {
        tell({ loaded: true });
        return ready;
      },
      (cause: unknown) => {
        if (cause instanceof EngineError) throw cause;
        const why = cause instanceof Error ? cause.message : String(cause);
        const detail = `it cannot be loaded: ${why}. The weights probably do not match the kind in the settings.`;
        throw new EngineError('', 'ENGINE_MISSING', detail, cause);
      },
    );
    loading.catch(() => (loading = undefined));
    return loading;
  };
  const answer = async (id: number, request: Request): Promise<void> => {
    const gone = new AbortController();
    running.set(id, gone);
    try {
      const ready = await loaded();
      await engine.answer(ready, request, {
        signal: gone.signal,
        tell: (part) => {
          if (!gone.signal.aborted) tell<Part>({ id, part });
        },
      });
      tell({ id, end: true });
    } catch (cause) {
      tell({ id, error: carriedFault(cause) });
    } finally {
      running.delete(id);
    }
  };
  process.on('message', (message: ProcessMessage<Request>) => {
    if ('data' in message) data = message.data;
    else if ('request' in message) void answer(message.id, message.request);
    else running.get(message.id)?.abort(new Error('the call was cancelled'));
  });
  // Ignored: a stopping server finishes its replies first, but terminals and process managers signal both processes at
  // once.
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => undefined);
  // The server is gone, and nothing else would end this process.
  process.on('disconnect', () => process.exit());
}

function tell<Part>(reply: ProcessReply<Part>): void {
  process.send?.(reply, undefined, undefined, () => undefined);
}
