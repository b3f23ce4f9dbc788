import path from 'node:path';
import fastifyStatic from '@fastify/static';
import fastifyWebsocket from '@fastify/websocket';
import type { FastifyInstance } from 'fastify';
import type { Character } from '../../characters/character.ts';
import { hasPicture } from '../../characters/pack-folder.ts';
import type { Engines } from '../engines/engines.ts';
import { ResumableSessions } from '../transports/websocket/resumable-sessions.ts';
import { asyncapiDocument } from '../protocol/asyncapi.ts';
import { limits } from '../protocol/limits.ts';
import { speaksBeta } from '../realtime/beta.ts';
import type { Memories } from '../memory/memories.ts';
import { addTwilio } from '../transports/phone/route.ts';
import { addCalls } from '../transports/webrtc/route.ts';
import { openMetrics, type Metrics } from '../telemetry/metrics.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { VoiceWatch } from '../telemetry/voice-watch.ts';
import { describeScene } from '../cast/cast-scene.ts';
import { addClientSecrets } from '../rest/client-secrets-route.ts';
import { ClientSecrets } from '../http/client-secrets.ts';
import { addCors } from '../http/cors.ts';
import { createAuthGuard, type AuthGuard } from '../http/auth-guard.ts';
import { LiveSessions } from '../http/live-sessions.ts';
import { openFastify, type ListenParts } from '../http/open-fastify.ts';
import { sendProblem } from '../http/problem.ts';
import { addRest } from '../rest/rest.ts';
import { serveSocket, type SocketDeps, type SocketRequest } from '../transports/websocket/realtime.ts';

/** Dependencies of the server. The caller opens and closes them. */
export interface AppParts extends ListenParts {
  readonly engines: Engines;
  readonly characters: Map<string, Character>;
  readonly version: string;
  /** Given if the caller wants to drain the sessions before it closes the server. */
  readonly sessions?: LiveSessions;
  /** Set if turns are traced. */
  readonly tracing?: Telemetry | undefined;
  /** Memory store of the characters; without it they remember nothing. The caller closes it. */
  readonly memories?: Memories | undefined;
  /** Monitors whether characters sound like their reference voice; off unless given. */
  readonly voiceWatch?: VoiceWatch | undefined;
}

const webFolder = path.join(import.meta.dirname, '..', 'web');
const clientFolder = path.join(import.meta.dirname, '..', 'client');

/** Builds the HTTP and WebSocket server. Closing it notifies every client. */
export async function buildApp(parts: AppParts): Promise<FastifyInstance> {
  const { config } = parts;
  const app = openFastify(parts);
  addCors(app, config);
  const { sessions = new LiveSessions(config) } = parts;
  const secrets = new ClientSecrets();
  const auth = createAuthGuard(config, secrets, sessions);
  const resumableSessions = new ResumableSessions(config.resumeGraceSeconds * 1000);
  const metrics = openMetrics(parts.engines.summary, sessions, parts.voiceWatch !== undefined);
  const shared = { ...parts, lobby: resumableSessions, sessions, telemetry: bothOf(metrics, parts.tracing) };
  await app.register(fastifyWebsocket, {
    options: {
      // Twice the limit, so that a frame slightly too large gets a coded error and the session survives.
      maxPayload: 2 * limits.frameBytes,
      perMessageDeflate: false,
      handleProtocols: (offered: Set<string>) => (offered.has('realtime') ? 'realtime' : false),
    },
    // The plugin's own `preClose` would close every socket without a reason.
    preClose: (done) => done(),
  });
  await app.register(fastifyStatic, { root: webFolder, prefix: '/web/' });
  await app.register(fastifyStatic, { root: clientFolder, prefix: '/client/', decorateReply: false });
  app.get('/characters.html', (_request, reply) => reply.sendFile('characters.html', webFolder));
  app.get('/', (_request, reply) => reply.sendFile('index.html', webFolder));
  addInformation(app, parts, sessions, auth);
  addMetrics(app, metrics, auth);
  addRealtime(app, shared, auth);
  addClientSecrets(app, parts, secrets, auth);
  addTwilio(app, shared, auth);
  addCalls(app, shared, auth);
  await addRest(app, { ...parts, secrets }, auth);
  app.addHook('preClose', async () => {
    await sessions.drain(0);
    resumableSessions.closeAll();
  });
  return app;
}

function addInformation(app: FastifyInstance, parts: AppParts, sessions: LiveSessions, auth: AuthGuard): void {
  const { config, engines, characters, version } = parts;
  const guard = { onRequest: auth.serverKey };
  const started = process.uptime();
  const asyncapi = asyncapiDocument(version);
  const importedFolder = path.resolve(config.dataDir, 'characters');
  app.get('/healthz', async (_request, reply) => {
    reply.code(sessions.draining ? 503 : 200);
    return {
      status: sessions.draining ? 'draining' : 'ok',
      version,
      uptime_s: Math.round(process.uptime() - started),
      engines: engines.summary,
      memory: parts.memories?.state ?? 'off',
      providers: engines.providers,
      sessions: { active: sessions.active, opened: sessions.opened, most: config.maxSessions },
    };
  });
  app.get('/asyncapi.json', async () => asyncapi);
  app.get('/characters', guard, async () => ({
    characters: [...characters.values()].map(({ id, name, tagline, languages, work, greetings, stage }) => ({
      id,
      name,
      tagline,
      languages,
      work: { title: work.title, author: work.author ?? null },
      greeting: stage?.scene.circumstance ?? greetings[0] ?? null,
      ...(stage === undefined ? {} : { scene: describeScene(id, stage) }),
      picture: stage === undefined && hasPicture(path.join(importedFolder, id)),
    })),
  }));
  app.get('/v1/models', guard, async () => ({
    object: 'list',
    data: [...characters.values()].map(({ id }) => ({ id, object: 'model', created: 0, owned_by: 'dramatis' })),
  }));
}

/** Forwards telemetry to metrics and tracing. */
function bothOf(metrics: Telemetry, tracing: Telemetry | undefined): Telemetry {
  if (tracing === undefined) return metrics;
  return {
    note(event, about) {
      metrics.note(event, about);
      tracing.note(event, about);
    },
    noteVoiceSimilarity: (similarity) => metrics.noteVoiceSimilarity?.(similarity),
  };
}

function addMetrics(app: FastifyInstance, metrics: Metrics, auth: AuthGuard): void {
  app.get('/metrics', { onRequest: auth.serverKey }, async (_request, reply) => {
    reply.type(metrics.contentType);
    return metrics.text();
  });
}

function addRealtime(app: FastifyInstance, shared: Omit<SocketDeps, 'visitor'>, auth: AuthGuard): void {
  app.route({
    method: 'GET',
    url: '/v1/realtime',
    onRequest: auth.session,
    handler: (_request, reply) =>
      sendProblem(reply, 404, { code: 'not_found', message: 'Only WebSockets are served here.' }),
    wsHandler: (socket, request) => {
      shared.sessions.add(socket);
      const deps = { ...shared, visitor: auth.authenticatedCaller(request) };
      serveSocket(socket, { ...socketRequest(request.query), beta: speaksBeta(request.headers) }, deps, request.log);
    },
  });
}

/** The query of a WebSocket URL. If a parameter is repeated, the first value counts. */
function socketRequest(query: unknown): SocketRequest {
  const asked: Record<string, string> = {};
  for (const [name, value] of Object.entries(query as Record<string, string | string[]>)) {
    const first = Array.isArray(value) ? value[0] : value;
    if (first !== undefined) asked[name] = first;
  }
  return asked;
}
