import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { loadCharacters } from '../../../characters/character.ts';
import { readConfig } from '../../../server/config/config.ts';
import { buildApp } from '../../../server/app/app.ts';
import { builtInCharacters } from '../../../server/cast/cast.ts';
import type { Vad } from '../../../voices/vad.ts';
import { openSilero } from '../../../voices/vads/silero.ts';
import { fakeEngines } from '../../fakes/engines.ts';
import { fakeSynthesizer } from '../../fakes/synthesizer.ts';
import { startJudging } from './judging-job.ts';
import { p99Of, watchOwnDelay } from './own-delay.ts';
import { machineClockMs } from '../turns/machine-clock.ts';

/** Message of the server once it listens. */
export interface Ready {
  readonly port: number;
  /** Origin of its `performance.now()`, which events carry as `x_ms`, on the clock of `machineClockMs`. */
  readonly clockFromMs: number;
}

/** Resource usage since the last query. */
export interface Usage {
  readonly cpuMs: number;
  /** 99th percentile of the event loop delay. */
  readonly loopDelayMs: number;
  /** Event loop delay caused by its own work alone, see `own-delay.ts`. */
  readonly ownDelayMs: number;
  /** The four longest of these delays, descending. */
  readonly longestOwnDelaysMs: readonly number[];
  /** Longest time from a window's arrival at the VAD to its score. */
  readonly vadMs: number;
  /** Resident memory now. */
  readonly memoryMib: number;
  /** Clips rated by a job that runs at the same time. */
  readonly jobs: number;
  /** Memory held by objects and buffers; without garbage if `memory` was requested. */
  readonly heldMib: number;
}

/** Sampling interval of the event loop delay; the histogram's values include it. */
const resolutionMs = 10;

// Run as a child process: the real server with engines that cost nothing, except for the VAD if the argument is
// `silero`. Sends its port, then its usage when asked.
const reply = 'A reply of some thirty words, which at a tenth of a second a word takes three seconds to be said: ';
const fakes = fakeEngines({
  hears: ['some words'],
  says: [`${reply.repeat(2).trim()}.`],
  synthesizer: fakeSynthesizer({ sings: process.argv.includes('sings') }),
});
let vadMs = 0;
const engines = process.argv[2] === 'silero' ? { ...fakes, vad: timed(openSilero()) } : fakes;
const [kind = '', modelPath] = process.argv.slice(3);
const job = modelPath === undefined ? { judged: 0, close: async () => undefined } : await startJudging(kind, modelPath);
const dataDir = await mkdtemp(path.join(tmpdir(), 'dramatis-bench-'));
const config = readConfig({
  flags: {},
  environment: {
    DRAMATIS_DATA_DIR: dataDir,
    DRAMATIS_LOG_LEVEL: 'silent',
    DRAMATIS_MAX_SESSIONS: '10000',
    DRAMATIS_MAX_SESSIONS_PER_ADDRESS: '10000',
    DRAMATIS_MAX_SESSIONS_PER_KEY: '10000',
    DRAMATIS_MAX_HANDSHAKES_PER_MINUTE: '100000',
    // Sessions held for a client that may come back are no growth, but thousands of them in a minute would look like it.
    DRAMATIS_RESUME_GRACE_SECONDS: '2',
  },
});
const characters = new Map((await loadCharacters(builtInCharacters)).map((pack) => [pack.id, pack]));
const app = await buildApp({ config, engines, characters, version: '0' });
await app.listen({ host: '127.0.0.1', port: 0 });
const delays = monitorEventLoopDelay({ resolution: resolutionMs });
delays.enable();
const ownDelay = watchOwnDelay();
let before = process.cpuUsage();
process.on('message', (message) => {
  const { user, system } = process.cpuUsage(before);
  before = process.cpuUsage();
  const ownDelays = ownDelay.take();
  const usage: Usage = {
    cpuMs: (user + system) / 1000,
    loopDelayMs: Math.max(0, delays.percentile(99) / 1e6 - resolutionMs),
    ownDelayMs: p99Of(ownDelays),
    longestOwnDelaysMs: ownDelays.slice(-4).toReversed(),
    vadMs,
    jobs: job.judged,
    ...memory(message === 'memory'),
  };
  delays.reset();
  vadMs = 0;
  job.judged = 0;
  process.send?.(usage);
});
process.on('disconnect', () => {
  void Promise.all([job.close(), rm(dataDir, { recursive: true, force: true })]).then(() => process.exit());
});
const { port } = app.server.address() as AddressInfo;
process.send?.({ port, clockFromMs: machineClockMs() - performance.now() } satisfies Ready);

/** The memory held is only known after a full garbage collection, which takes a while. */
function memory(collected: boolean): Pick<Usage, 'memoryMib' | 'heldMib'> {
  // The kind of collection that also returns pages with holes in them to the system.
  if (collected) globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  const { rss, heapUsed, external } = process.memoryUsage();
  return { memoryMib: rss / 1024 / 1024, heldMib: (heapUsed + external) / 1024 / 1024 };
}

/** Records the longest time that a window took. */
function timed(vad: Vad): Vad {
  return {
    ...vad,
    open() {
      const stream = vad.open();
      return {
        async score(window) {
          const startMs = performance.now();
          const probability = await stream.score(window);
          vadMs = Math.max(vadMs, performance.now() - startMs);
          return probability;
        },
        close: () => stream.close(),
      };
    },
  };
}
