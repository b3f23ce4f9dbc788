import { runWorker } from '../../eval/worker/command.ts';
import { evalHost } from './eval.ts';

/** `dramatis worker`: does the work of evaluations and builds that were started elsewhere. */
export function run(args: string[]): Promise<number> {
  return runWorker(args, evalHost(new AbortController().signal), {
    onStop: (stop) => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);
    },
    onAlone: (quit) => void process.once('disconnect', quit),
  });
}
