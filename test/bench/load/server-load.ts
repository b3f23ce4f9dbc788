import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Ready, Usage } from './fake-server.ts';
import { summarize, type BenchRow } from '../kit/stats.ts';

const warmUpSeconds = 8;
const measuredSeconds = 15;

/** A client that costs little, so that the measurement shows the server's cost. */
export interface Load {
  /** Sends an audio frame, and anything else that is due. */
  tick(): void;
  bytesSent(): number;
  bytesReceived(): number;
  close(): void;
}

/** The real server with engines that cost nothing, in a separate process. */
export interface LoadedServer {
  readonly port: number;
  /** Resource usage since the last query. */
  usage(): Promise<Usage>;
  stop(): void;
}

/** `sings`: its voice is a tone, for codecs. */
export async function startLoadedServer({ sings = false } = {}): Promise<LoadedServer> {
  const server: ChildProcess = fork(path.join(import.meta.dirname, 'fake-server.ts'), sings ? ['sings'] : []);
  const [{ port }] = (await once(server, 'message')) as [Ready];
  return {
    port,
    async usage() {
      server.send('usage');
      const [usage] = (await once(server, 'message')) as [Usage];
      return usage;
    },
    stop: () => server.disconnect(),
  };
}

/**
 * Measures the cost of these clients for the server, then closes them: CPU and bytes per session and minute, and event
 * loop delay. With `frameMs`, each sends a frame at that interval.
 */
export async function* measureLoads(
  server: LoadedServer,
  loads: readonly Load[],
  { bench, what, frameMs }: { readonly bench: string; readonly what: string; readonly frameMs?: number },
): AsyncIterable<BenchRow> {
  const stopTalking = frameMs === undefined ? () => undefined : talk(loads, frameMs);
  await pause((frameMs === undefined ? 1 : warmUpSeconds) * 1000);
  await server.usage();
  const sent = total(loads, 'bytesSent');
  const received = total(loads, 'bytesReceived');
  const startMs = performance.now();
  const cpuMs: number[] = [];
  const loopDelayMs: number[] = [];
  for (let lastMs = startMs; lastMs < startMs + measuredSeconds * 1000;) {
    await pause(1_000);
    const usage = await server.usage();
    const now = performance.now();
    cpuMs.push((usage.cpuMs / (now - lastMs)) * (60_000 / loads.length));
    loopDelayMs.push(usage.loopDelayMs);
    lastMs = now;
  }
  const sessionMinutes = ((performance.now() - startMs) / 60_000) * loads.length;
  const kibibytes = (bytes: number): number[] => [bytes / 1024 / sessionMinutes];
  const toServer = kibibytes(total(loads, 'bytesSent') - sent);
  const fromServer = kibibytes(total(loads, 'bytesReceived') - received);
  yield summarize(bench, `${what}: CPU per session-minute`, 'ms', cpuMs);
  yield summarize(bench, `${what}: event loop late, p99 of each second`, 'ms', loopDelayMs);
  yield summarize(bench, `${what}: to the server per session-minute`, 'KiB', toServer);
  yield summarize(bench, `${what}: from the server per session-minute`, 'KiB', fromServer);
  stopTalking();
  for (const load of loads) load.close();
}

function total(loads: readonly Load[], what: 'bytesSent' | 'bytesReceived'): number {
  return loads.reduce((sum, load) => sum + load[what](), 0);
}

/** Makes every client send a frame at each interval, evenly spread over it. Returns a function that stops it. */
function talk(loads: readonly Load[], frameMs: number): () => void {
  const startMs = performance.now();
  let ticks = 0;
  const timer = setInterval(() => {
    const due = ((performance.now() - startMs) / frameMs) * loads.length;
    for (; ticks < due; ticks += 1) loads[ticks % loads.length]?.tick();
  }, 2);
  return () => clearInterval(timer);
}
