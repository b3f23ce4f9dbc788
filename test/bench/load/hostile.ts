import { fork } from 'node:child_process';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { concatSamples } from '../../../voices/audio.ts';
import { silence, tone } from '../../fakes/vad.ts';
import { summarize, type BenchRow } from '../kit/stats.ts';
import { callInRealTime, framesOf, openCallers, startFakeServer, type FakeServer, type Notes } from './callers.ts';
import { attackKinds } from './hostile-clients.ts';

const bench = 'hostile';
const honest = 50;
const attackers = 20;
const warmUpMs = 6_000;
/** 1.5 seconds of speech in every six; the reply takes three. */
const cycle = framesOf(concatSamples([tone(1_520), silence(4_480)]));

/**
 * Fifty honest conversations, first alone and then beside twenty attackers of each kind in turn: the time from the end-of-turn
 * decision to the first audio, audio that is late, and conversations that are lost. The attackers are a separate process;
 * the engines answer at once. `--seconds N` for each kind, 15 unless given; `--only TEXT`: the kinds that contain it.
 */
export async function* run(args: readonly string[]): AsyncIterable<BenchRow> {
  const option = (name: string): string | undefined =>
    args.includes(`--${name}`) ? args[args.indexOf(`--${name}`) + 1] : undefined;
  const forMs = Number(option('seconds') ?? 15) * 1_000;
  const server = await startFakeServer('fake');
  const notes: Notes = { firstAudioMs: [], lateMs: [], dropped: 0 };
  const callers = await openCallers(server, honest, cycle, notes);
  const stop = callInRealTime(callers);
  await pause(warmUpMs);
  yield* await measure('quiet', server, notes, forMs);
  for (const kind of attackKinds.filter((one) => one.includes(option('only') ?? ''))) {
    const clients = fork(path.join(import.meta.dirname, 'hostile-clients.ts'), [server.url, kind, String(attackers)]);
    yield* await measure(kind, server, notes, forMs);
    clients.kill('SIGKILL');
    await pause(1_000);
  }
  stop();
  for (const caller of callers) caller.close();
  server.stop();
}

async function measure(kind: string, server: FakeServer, notes: Notes, forMs: number): Promise<BenchRow[]> {
  notes.firstAudioMs.length = 0;
  notes.lateMs.length = 0;
  notes.dropped = 0;
  await server.usage();
  await pause(forMs);
  const { memoryMib, loopDelayMs } = await server.usage();
  return [
    summarize(bench, `${kind}: first audio`, 'ms', notes.firstAudioMs),
    summarize(bench, `${kind}: piece of a reply late`, 'ms', notes.lateMs),
    summarize(bench, `${kind}: event loop late, p99`, 'ms', [loopDelayMs]),
    summarize(bench, `${kind}: talks lost`, 'count', [notes.dropped]),
    summarize(bench, `${kind}: memory of the server`, 'MiB', [memoryMib]),
  ];
}
