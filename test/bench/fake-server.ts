import type { AddressInfo } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { loadCharacters } from '../../characters/character.ts';
import { readConfig } from '../../server/config.ts';
import { buildApp } from '../../server/http/app.ts';
import { builtInCharacters } from '../../server/serve.ts';
import { fakeEngines } from '../fakes/engines.ts';
import { fakeSynthesizer } from '../fakes/synthesizer.ts';

/** What the server has used since it was last asked. */
export interface Usage {
  readonly cpuMs: number;
  /** 99th percentile of how late the event loop was. */
  readonly loopDelayMs: number;
}

/** How often the event loop is looked at; what the histogram tells includes it. */
const resolutionMs = 10;

// Run as a child process: the real server with engines that cost nothing. Tells its port, then its usage when asked.
const reply = 'A reply of some thirty words, which at a tenth of a second a word takes three seconds to be said: ';
const engines = fakeEngines({
  hears: ['some words'],
  says: [`${reply.repeat(2).trim()}.`],
  synthesizer: fakeSynthesizer({ sings: process.argv.includes('sings') }),
});
const config = readConfig({
  flags: {},
  environment: {
    DRAMATIS_LOG_LEVEL: 'silent',
    DRAMATIS_MAX_SESSIONS: '10000',
    DRAMATIS_MAX_SESSIONS_PER_ADDRESS: '10000',
    DRAMATIS_MAX_HANDSHAKES_PER_MINUTE: '100000',
  },
});
const characters = new Map((await loadCharacters(builtInCharacters)).map((pack) => [pack.id, pack]));
const app = await buildApp({ config, engines, characters, version: '0' });
await app.listen({ host: '127.0.0.1', port: 0 });
const delays = monitorEventLoopDelay({ resolution: resolutionMs });
delays.enable();
let before = process.cpuUsage();
process.on('message', () => {
  const { user, system } = process.cpuUsage(before);
  before = process.cpuUsage();
  const usage: Usage = {
    cpuMs: (user + system) / 1000,
    loopDelayMs: Math.max(0, delays.percentile(99) / 1e6 - resolutionMs),
  };
  delays.reset();
  process.send?.(usage);
});
process.on('disconnect', () => process.exit());
process.send?.((app.server.address() as AddressInfo).port);
