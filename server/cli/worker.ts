import { runWorker } from '../../eval/worker/command.ts';
import { evalHost } from './eval.ts';
import type { WorkerMessage } from './jobs-host.ts';

/** `dramatis worker`: does the work of evaluations and builds that were started elsewhere. */
export async function run(args: string[]): Promise<number> {
  let redisPid: number | undefined;
  let isStopping = false;
  const status = await runWorker(args, evalHost(new AbortController().signal), {
    onStop: (stop) => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);
    },
    onAlone: (quit) => {
      process.on('message', (message: WorkerMessage) => {
        redisPid = message.redisPid ?? redisPid;
        if (message.stop !== true) return;
        isStopping = true;
        quit();
      });
      process.once('disconnect', () => {
        if (isStopping) return;
        if (redisPid === undefined) return quit();
        // The run was killed, and this Redis was its own: there is nobody to give anything back to.
        endProcess(redisPid);
        process.exit(1);
      });
    },
  });
  isStopping = true;
  if (process.connected) process.disconnect();
  return status;
}

function endProcess(pid: number): void {
  try {
    process.kill(pid);
  } catch {
    // Another worker has done it.
  }
}
