import { runWorker } from '../../eval/worker/command.ts';
import { evalHost } from './eval.ts';
import type { WorkerMessage } from './jobs-host.ts';

/** `dramatis worker`: does the work of evaluations and builds that were started elsewhere. */
export async function run(args: string[]): Promise<number> {
  let redisPid: number | undefined;
  const onEnd: (() => void)[] = [];
  try {
    return await runWorker(args, evalHost(new AbortController().signal), {
      onStop(stop) {
        for (const signal of ['SIGINT', 'SIGTERM'] as const) {
          process.on(signal, stop);
          onEnd.push(() => process.off(signal, stop));
        }
      },
      onAlone(quit) {
        let isStopping = false;
        const onMessage = (message: WorkerMessage): void => {
          redisPid = message.redisPid ?? redisPid;
          if (message.stop !== true) return;
          isStopping = true;
          quit();
        };
        const onDisconnect = (): void => {
          if (isStopping) return;
          if (redisPid === undefined) return quit();
          // The run was killed, and this Redis was its own: there is nobody to give anything back to.
          endProcess(redisPid);
          process.exit(1);
        };
        process.on('message', onMessage);
        process.once('disconnect', onDisconnect);
        // Without listeners the channel keeps no process alive.
        onEnd.push(() => process.off('message', onMessage).off('disconnect', onDisconnect));
      },
    });
  } finally {
    for (const end of onEnd) end();
  }
}

function endProcess(pid: number): void {
  try {
    process.kill(pid);
  } catch {
    // Another worker has done it.
  }
}
