import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { FastifyInstance } from 'fastify';
import { loadCharacters, type Character } from '../characters/character.ts';
import type { Config } from './config.ts';
import type { CostLog } from './engine-config/open-planned.ts';
import { openEngines, type Engines } from './engines.ts';
import { buildApp } from './http/app.ts';
import { LiveSessions } from './http/live-sessions.ts';
import { openWatchedVoices, type WatchedVoices } from './telemetry/open-voice-watch.ts';
import { openTls } from './tls/credentials.ts';
import { sweepJournals } from './link/journal.ts';

/** A running server. */
export interface RunningServer {
  /** Where it listens, such as `http://127.0.0.1:8080`; `https:` where it has a certificate. */
  readonly url: string;
  readonly app: FastifyInstance;
  readonly engines: Engines;
  readonly characters: ReadonlyMap<string, Character>;
  /** Takes nobody in any more, lets replies finish, tells the clients, then frees the port and the engines. */
  close(): Promise<void>;
}

/** The folder of the packs that come with Dramatis. */
export const builtInCharacters = path.join(import.meta.dirname, '..', 'characters');

/** Opens engines and characters, listens, and warms the models up. */
export async function startServer(config: Config): Promise<RunningServer> {
  const characters = await readCharacters(config);
  if (config.store) sweepJournals(config.dataDir, config.resumeGraceSeconds * 1000);
  const tls = await openTls(config);
  const sessions = new LiveSessions(config);
  let tell: CostLog | undefined;
  const engines = await openEngines(config, (cost) => tell?.(cost));
  const version = packageVersion();
  let voices: WatchedVoices | undefined;
  let tellFault: ((fault: unknown) => void) | undefined;
  const { otlpEndpoint } = config;
  try {
    // Not even loaded where nobody asks for it.
    const tracing =
      otlpEndpoint === undefined
        ? undefined
        : (await import('./telemetry/tracing.ts')).openTracing(otlpEndpoint, version, engines.summary);
    voices = await openWatchedVoices(config, engines, (fault) => tellFault?.(fault));
    const { voiceWatch } = voices;
    const app = await buildApp({ config, engines, characters, version, tls, sessions, tracing, voiceWatch });
    tellFault = (fault) => app.log.warn({ fault: String(fault) }, 'a voice could not be heard');
    tell = (cost) => app.log[cost.outcome.startsWith('ENGINE') ? 'warn' : 'info']({ call: cost }, 'engine call');
    await app.listen({ host: config.host, port: config.port });
    await engines.warm(new AbortController().signal, characters.values());
    const { address, port, family } = app.server.address() as AddressInfo;
    const host = family === 'IPv6' ? `[${address}]` : address;
    return {
      url: `${tls === undefined ? 'http' : 'https'}://${host}:${port}`,
      app,
      engines,
      characters,
      async close() {
        await sessions.drain(config.drainSeconds * 1000);
        await app.close();
        await voices?.close();
        await tracing?.close();
        await engines.close();
      },
    };
  } catch (fault) {
    await Promise.all([voices?.close(), engines.close()]);
    throw fault;
  }
}

/** Built-in packs, then those of the user's own folder, which win where ids are the same. */
export async function readCharacters(config: Pick<Config, 'charactersDir'>): Promise<ReadonlyMap<string, Character>> {
  const packs = [...(await loadCharacters(builtInCharacters))];
  if (config.charactersDir !== undefined) packs.push(...(await loadCharacters(config.charactersDir)));
  return new Map(packs.map((pack) => [pack.id, pack]));
}

/** The version in package.json. */
export function packageVersion(): string {
  const file = path.join(import.meta.dirname, '..', 'package.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
