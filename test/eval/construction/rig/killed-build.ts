import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { Answers } from './scripted-model.ts';
import { openScriptedServer } from './scripted-server.ts';
import { filesOf } from './build-rig.ts';

const main = path.resolve(import.meta.dirname, '../../../../server/main.ts');
/** `DRAMATIS_TEST_KILLS=20` for as many as the builds promise to survive. */
const kills = Number(process.env['DRAMATIS_TEST_KILLS'] ?? 6);
const concurrency = 4;

/** Outcome of a build in one piece, and of the same build killed at several moments. */
export interface KilledBuild {
  readonly status: number | null;
  readonly whole: ReadonlyMap<string, string>;
  readonly killed: ReadonlyMap<string, string>;
  readonly kills: number;
  readonly calls: number;
  /** Calls that were made again, and how many could be in flight at the kills. */
  readonly repeated: number;
  readonly mostInFlight: number;
}

/** Broken promises: killed at several moments, a build writes the same bytes, and repeats only calls that were in flight. */
export function faultsOf({ status, whole, killed, ...counts }: KilledBuild): string[] {
  const names = new Set([...whole.keys(), ...killed.keys()]);
  return [
    ...(status === 0 ? [] : [`it ended with the status ${status}`]),
    ...(counts.kills === kills ? [] : [`it was killed ${counts.kills} times`]),
    ...(whole.size > 3 ? [] : ['it wrote no files']),
    ...[...names].filter((name) => whole.get(name) !== killed.get(name)).map((name) => `${name} differs`),
    ...(counts.repeated <= counts.mostInFlight ? [] : [`${counts.repeated} calls were repeated`]),
  ];
}

/** Runs `dramatis data build …` twice, against a scripted server of which one call in ten goes wrong. */
export async function buildWithKills(
  args: readonly string[],
  stages: readonly string[],
  {
    answers,
    scratch,
    isEmbedding = false,
  }: { readonly answers: Answers; readonly scratch: string; readonly isEmbedding?: boolean },
): Promise<KilledBuild> {
  const run = async (
    folder: string,
    killAfter?: number,
  ): Promise<{ status: number | null; calls: readonly string[] }> => {
    await using server = await openScriptedServer(answers, 0.1);
    const models = stages.map((stage) => `${stage}=${server.url}#${stage}`).join(',');
    const all = ['data', 'build', ...args, '--out', path.join(scratch, folder), '--rights', 'public domain'];
    const limits = stages.length === 0 ? [] : ['--model', models, '--concurrency', `${concurrency}`];
    const embedder = isEmbedding ? ['--embedder', `${server.url}#words`, '--threshold', '0.1,0.97'] : [];
    const child = spawn(process.execPath, [main, ...all, ...limits, ...embedder], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const exited = once(child, 'exit') as Promise<[number | null]>;
    server.onCall = () => {
      if (server.calls.length === killAfter) child.kill('SIGKILL');
    };
    const [status] = await exited;
    return { status, calls: [...server.calls] };
  };
  const whole = await run('whole');
  const step = Math.max(1, Math.floor(whole.calls.length / (kills + 1)));
  const calls: string[] = [];
  let count = 0;
  for (; count < kills; count += 1) {
    const { status, calls: made } = await run('killed', step);
    calls.push(...made);
    if (status !== null) break;
  }
  const last = await run('killed');
  calls.push(...last.calls);
  // Equal questions, such as samples of a score, are asked several times by one build already.
  const again = new Map<string, number>();
  for (const call of calls) again.set(call, (again.get(call) ?? 0) + 1);
  for (const call of whole.calls) again.set(call, (again.get(call) ?? 0) - 1);
  return {
    status: last.status,
    whole: await filesOf(path.join(scratch, 'whole')),
    killed: await filesOf(path.join(scratch, 'killed')),
    kills: count,
    calls: whole.calls.length,
    repeated: [...again.values()].reduce((sum, more) => sum + Math.max(0, more), 0),
    mostInFlight: count * concurrency,
  };
}
