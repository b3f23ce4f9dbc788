import type { FastifyBaseLogger } from 'fastify';
import type { WebSocket } from 'ws';
import { loadCharacter, type Character } from '../../characters/character.ts';
import { readConfig } from '../../server/config/config.ts';
import type { Engines } from '../../server/engines/engines.ts';
import { sessionFiles } from '../../server/journal/journal-file.ts';
import { LiveSessions } from '../../server/http/live-sessions.ts';
import { serveSocket } from '../../server/transports/websocket/realtime.ts';
import type { SocketRequest } from '../../server/connections/socket-request.ts';
import { ResumableSessions } from '../../server/connections/resumable-sessions.ts';
import { cascade } from '../../server/responders/responder.ts';
import type { SimulatedEngines } from './engines.ts';
import type { Scheduler } from './scheduler.ts';

const holmes = await loadCharacter('characters/sherlock-holmes');

/**
 * Waits 500 ms for the end of a turn and yields after 160 ms, so that tests do not depend on a character's settings.
 */
const somebody: Character = {
  ...holmes,
  turnTaking: { ...holmes.turnTaking, patience: 0.375, interruptibility: 0.7 },
};

const voice = { kind: 'preset', id: 'simulated' } as const;

/** The server below HTTP: handles sockets in virtual time. */
export class SimulatedServer {
  readonly resumableSessions: ResumableSessions;
  readonly sessions: LiveSessions;
  /** Internal faults that it logged, without content. */
  readonly faults: string[] = [];
  readonly #scheduler: Scheduler;
  readonly #config: ReturnType<typeof readConfig>;

  constructor(scheduler: Scheduler, environment: Readonly<Record<string, string>> = {}) {
    this.#scheduler = scheduler;
    this.#config = readConfig({ flags: {}, environment });
    this.resumableSessions = new ResumableSessions(this.#config.resumeGraceSeconds * 1000, scheduler);
    this.sessions = new LiveSessions(this.#config, scheduler);
  }

  /** `enginesFor` is called when a session begins, but not when one is resumed. */
  serve(socket: WebSocket, url: URL, person: string, enginesFor: () => SimulatedEngines): void {
    const { resumableSessions, sessions } = this;
    const request = Object.fromEntries(url.searchParams) as SocketRequest;
    sessions.add(socket);
    const deps = {
      config: this.#config,
      engines: this.#engines(enginesFor),
      characters: new Map([[somebody.id, somebody]]),
      resumableSessions,
      store: this.#config.store ? sessionFiles(this.#config.dataDir) : undefined,
      sessions,
      clock: this.#scheduler,
      telemetry: { note: () => undefined },
      caller: { owner: undefined, secret: undefined, address: person },
    };
    serveSocket(socket, { ...request, model: somebody.id }, deps, this.#log);
  }

  /** Kills the server, after its connections were cut: only stored sessions survive. */
  die(): void {
    this.resumableSessions.closeAll();
  }

  /** Stops the server as SIGTERM does. */
  async stop(graceMs: number): Promise<void> {
    await this.sessions.drain(graceMs);
    this.resumableSessions.closeAll();
  }

  #engines(enginesFor: () => SimulatedEngines): Engines {
    let opened: SimulatedEngines | undefined;
    const engines = (): SimulatedEngines => (opened ??= enginesFor());
    return {
      get vad() {
        return engines().vad;
      },
      get turnDetector() {
        return engines().turnDetector;
      },
      get recognizer() {
        return engines().recognizer;
      },
      voiceOf: () => ({ synthesizer: engines().synthesizer, voice }),
      responderFor: () => {
        const { recognizer, agent, synthesizer } = engines();
        return cascade({ recognizer, agent, synthesizer, voice });
      },
      notes: [],
      providers: {},
      summary: [{ stage: 'vad', name: 'simulated', provider: 'cpu' }],
      warm: async () => undefined,
      close: async () => undefined,
    };
  }

  get #log(): FastifyBaseLogger {
    const quiet = (): void => undefined;
    const error = (facts: unknown): void => void this.faults.push(JSON.stringify(facts));
    return {
      info: quiet,
      debug: quiet,
      warn: quiet,
      trace: quiet,
      error,
      fatal: error,
    } as unknown as FastifyBaseLogger;
  }
}
