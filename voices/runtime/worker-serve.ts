import { parentPort, type Transferable } from 'node:worker_threads';
import { carriedFault } from './carried-fault.ts';
import type { WorkerReply, WorkerRequest } from './worker-pool.ts';

/** The worker's end of a pool; `transfer`: buffers of the reply to move. Errors arrive as of `carriedFault`. */
export function serveWorker<Request, Reply>(
  handle: (request: Request) => Promise<{ readonly reply: Reply; readonly transfer?: readonly Transferable[] }>,
): void {
  const port = parentPort;
  if (port === null) throw new Error('this module runs only in a worker thread');
  port.on('message', (message: WorkerRequest<Request>) => {
    void handle(message.request).then(
      ({ reply, transfer }) =>
        port.postMessage({ id: message.id, reply } satisfies WorkerReply<Reply>, [...(transfer ?? [])]),
      (cause: unknown) => port.postMessage({ id: message.id, error: carriedFault(cause) } satisfies WorkerReply<Reply>),
    );
  });
}
