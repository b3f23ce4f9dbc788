import type { EvalHost } from '../host.ts';

export async function run(_args: readonly string[], host: EvalHost): Promise<number> {
  host.print('later');
  return 1;
}
