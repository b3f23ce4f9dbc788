import path from 'node:path';
import { runEval } from '../../eval/cli/eval.ts';
import type { EvalHost } from '../../eval/host.ts';

/** Runs the evaluation harness like the command line, without a process; records its output. `printed` has problems, too. */
export async function evaluate(
  args: readonly string[],
  host: Partial<EvalHost> = {},
): Promise<{ readonly status: number; readonly printed: string; readonly written: string }> {
  const printed: string[] = [];
  let written = '';
  const status = await runEval(args, {
    startServer: () => Promise.reject(new Error('no server here')),
    signal: new AbortController().signal,
    environment: {},
    print: (text) => void printed.push(text),
    note: (text) => void printed.push(text),
    write: (text) => void (written += text),
    progress: { write: () => true },
    ...host,
  });
  return { status, printed: printed.join('\n'), written };
}

/** Arguments for a run over existing answers. */
export function runOf(
  set: { readonly data: string; readonly outputs: string },
  judge: string,
  out: string,
  more: readonly string[] = [],
): string[] {
  const where = ['--data', set.data, '--outputs', set.outputs, '--out', path.resolve(out)];
  return ['run', ...where, '--judge', `${judge}/v1`, '--judge-model', 'ear', ...more];
}
