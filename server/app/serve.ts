import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Character } from '../../characters/character.ts';
import { readCast } from '../cast/cast.ts';
import { ConfigError, type Config } from '../config/config.ts';
import { lockDataDir, makeDataDir } from '../config/data-dir.ts';
import type { CostLog } from '../engines/open-planned.ts';
import { providerFallbackNotes } from '../telemetry/provider-fallback-notes.ts';
import { openEngines, type Engines } from '../engines/engines.ts';
import { candidateProviders, thisMachine } from '../engines/gpu-detection.ts';
import { packageVersion } from '../terminal/version.ts';
import { buildApp } from './app.ts';
import { LiveSessions } from '../http/live-sessions.ts';
import { openMemories } from '../memory/memories.ts';
import { MemoryError } from '../memory/store/record.ts';
import { watchVoices } from '../telemetry/open-voice-watch.ts';
import { openTls } from '../tls/credentials.ts';
import { sweepJournals } from '../journal/journal-file.ts';

/** A node that stops says so for a while, then moves 12 sessions a second to the others. */
const movePace = { noticeMs: 2_000, apartMs: 80 };

export interface RunningServer {
  /** URL that it listens on, such as `http://127.0.0.1:8080`; `https:` if it has a certificate. */
  readonly url: string;
  readonly app: FastifyInstance;
  readonly engines: Engines;
  readonly characters: ReadonlyMap<string, Character>;
  /** Stops accepting clients, lets replies finish, notifies the clients, then releases the port and the engines. */
  close(): Promise<void>;
}

/** Opens engines and characters, starts listening, and warms up the models. */
export async function startServer(config: Config): Promise<RunningServer> {
  // Closed in reverse order, also if the start fails.
  const opened = new AsyncDisposableStack();
  try {
    const hasJournals = config.store && config.redisUrl === undefined;
    const hasMemoryFile = config.memory && config.postgresUrl === undefined;
    if (hasJournals || hasMemoryFile || config.tlsDev) makeDataDir(config.dataDir);
    if (hasJournals || hasMemoryFile) opened.defer(lockDataDir(config.dataDir));
    return await openServer(config, opened);
  } catch (fault) {
    await opened.disposeAsync();
    throw fault;
  }
}

/** Adds what it opens to `opened`. */
async function openServer(config: Config, opened: AsyncDisposableStack): Promise<RunningServer> {
  const characters = await readCast(config);
  if (!characters.has(config.defaultCharacter))
    throw new ConfigError(
      `DRAMATIS_DEFAULT_CHARACTER is "${config.defaultCharacter}", which does not exist. The characters are: ${[...characters.keys()].join(', ')}.`,
    );
  if (config.store && config.redisUrl === undefined) sweepJournals(config.dataDir, config.resumeGraceSeconds * 1000);
  const tls = await openTls(config);
  const sessions = new LiveSessions(config);
  let logCall: CostLog | undefined;
  const execution = providerFallbackNotes();
  const engines = await openEngines(config, (cost) => logCall?.(cost), execution.take);
  const version = packageVersion();
  let logVoiceFault: ((fault: unknown) => void) | undefined;
  const memoryFaults: unknown[] = [];
  let logMemoryBack: (() => void) | undefined;
  let logMemoryFault = (fault: unknown): void => void memoryFaults.push(fault);
  const { otlpEndpoint } = config;
  opened.defer(() => engines.close());
  // Loaded only if tracing is configured.
  const tracing =
    otlpEndpoint === undefined
      ? undefined
      : (await import('../telemetry/tracing.ts')).openTracing(otlpEndpoint, version, engines.summary);
  opened.defer(() => tracing?.close());
  const voiceWatch = watchVoices(engines, (fault) => logVoiceFault?.(fault));
  opened.defer(() => voiceWatch?.close());
  const { chatModel, embedder } = engines;
  const onMemoryFault = (fault: unknown): void => logMemoryFault(fault);
  const onBack = (): void => logMemoryBack?.();
  const memories = await openMemories({ config, chatModel, embedder, characters, onFault: onMemoryFault, onBack });
  opened.defer(() => memories.close());
  const app = await buildApp({ config, engines, characters, version, tls, sessions, tracing, voiceWatch, memories });
  opened.defer(() => app.close());
  logMemoryFault = (fault) => {
    const code = fault instanceof MemoryError ? fault.code : undefined;
    app.log.error({ code, fault: String(fault) }, 'memory failed');
  };
  logMemoryBack = () => app.log.info('PostgreSQL answers again; memories are stored');
  for (const fault of memoryFaults) logMemoryFault(fault);
  logVoiceFault = (fault) => app.log.warn({ fault: String(fault) }, 'voice similarity was not measured');
  logCall = (cost) => app.log[cost.outcome.startsWith('ENGINE') ? 'warn' : 'info']({ call: cost }, 'engine call');
  execution.tellTo((facts, text) => app.log.warn(facts, text));
  // The caller prints the address, so Fastify's own line is suppressed.
  app.log.level = 'warn';
  await app.listen({ host: config.host, port: config.port });
  app.log.level = config.logLevel;
  await engines.warm(new AbortController().signal, characters.values());
  opened.defer(lookAtGpu(config, app));
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${hostOf(app)}`,
    app,
    engines,
    characters,
    async close() {
      await sessions.drain(config.drainSeconds * 1000, config.redisUrl === undefined ? {} : movePace);
      await opened.disposeAsync();
    },
  };
}

function hostOf({ server }: FastifyInstance): string {
  const { address, port, family } = server.address() as AddressInfo;
  return `${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

/** Runs `proveProviders` in the background, if there is a GPU. Returns a function that stops it. */
function lookAtGpu(config: Config, { log }: FastifyInstance): () => Promise<void> {
  const proving = new AbortController();
  const prove = async (): Promise<void> => {
    if (config.providers !== undefined || candidateProviders(thisMachine).length === 0) return;
    const { selectProviders } = await import('../gpu/select-providers.ts');
    await selectProviders(config, { signal: proving.signal, tell: (level, text) => log[level](text) });
  };
  const proof = prove().catch((fault: unknown) => {
    log.warn({ fault: String(fault) }, 'the GPU could not be tested');
  });
  return async () => {
    proving.abort();
    await proof;
  };
}
