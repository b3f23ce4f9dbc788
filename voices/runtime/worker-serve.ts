import { parentPort, type Transferable } from 'node:worker_threads';
import { EngineError } from '../engine.ts';
import type { WorkerReply, WorkerRequest } from './worker-pool.ts';

/**
 * The worker's end of a pool: answers each request with what `handle` returns; `transfer` lists the buffers of the
 * reply that may be moved instead of copied. An `EngineError` keeps its code; any other error becomes
 * `ENGINE_BAD_REPLY`.
 */
export function serveWorker<Request, Reply>(
  handle: (request: Request) => Promise<{ readonly reply: Reply; readonly transfer?: readonly Transferable[] }>,
): void {
  const port = parentPort;
  if (port === null) throw new Error('this module runs in a worker thread only');
  port.on('message', (message: WorkerRequest<Request>) => {
    void handle(message.request).then(
      ({ reply, transfer }) =>
        port.postMessage({ id: message.id, reply } satisfies WorkerReply<Reply>, [...(transfer ?? [])]),
      (cause: unknown) => {
        const code = cause instanceof EngineError ? cause.code : 'ENGINE_BAD_REPLY';
        const detail =
          cause instanceof EngineError ? cause.detail : cause instanceof Error ? cause.message : String(cause);
        port.postMessage({ id: message.id, error: { code, detail } } satisfies WorkerReply<Reply>);
      },
    );
  });
}
