import path from 'node:path';
import fastifyStatic from '@fastify/static';
import fastifyWebsocket from '@fastify/websocket';
import fastify, {
  LogController,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import type { Character } from '../../characters/character.ts';
import type { Config } from '../config.ts';
import type { Engines } from '../engines.ts';
import { errorObject, type ErrorCode } from '../errors.ts';
import { limits } from '../protocol/limits.ts';
import { Lobby } from '../link/lobby.ts';
import { refusalOf } from './access.ts';
import { LiveSessions } from './live-sessions.ts';
import { serveSocket, type SocketRequest } from './realtime.ts';

/** What the server is made of; opened and closed by its owner. */
export interface AppParts {
  readonly config: Config;
  readonly engines: Engines;
  readonly characters: ReadonlyMap<string, Character>;
  readonly version: string;
}

const webFolder = path.join(import.meta.dirname, '..', 'web');

/** Only our own files, no inline code, no frames; sockets to anywhere a page of ours may be told to connect. */
const contentSecurityPolicy =
  "default-src 'self'; connect-src 'self' ws: wss:; img-src 'self' data:; media-src 'self' blob:; frame-ancestors 'none'";

/** Builds the HTTP and WebSocket server. Closing it tells every client. */
export async function buildApp(parts: AppParts): Promise<FastifyInstance> {
  const { config } = parts;
  const app = fastify({
    logger: { level: config.logLevel, serializers: { req: describeRequest } },
    logController: new LogController({ disableRequestLogging: true }),
    forceCloseConnections: true,
  });
  const sessions = new LiveSessions();
  const lobby = new Lobby(config.resumeGraceSeconds * 1000);
  app.setErrorHandler((error: FastifyError, request, reply) => {
    request.log.error({ code: error.code }, error.message);
    const tooLarge = error.statusCode === 413;
    const code: ErrorCode = tooLarge
      ? 'message_too_large'
      : (error.statusCode ?? 500) < 500
        ? 'invalid_event'
        : 'internal_error';
    return sendProblem(
      reply,
      error.statusCode ?? 500,
      code,
      tooLarge ? error.message : 'The request could not be served.',
    );
  });
  app.setNotFoundHandler((request, reply) =>
    sendProblem(reply, 404, 'not_found', `Nothing is at ${request.url.slice(0, 200)}.`),
  );
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('content-security-policy', contentSecurityPolicy).header('x-content-type-options', 'nosniff');
  });
  await app.register(fastifyWebsocket, {
    options: {
      // Twice the limit, so that a frame somewhat too large is answered with a coded error and the session lives on.
      maxPayload: 2 * limits.frameBytes,
      perMessageDeflate: false,
      handleProtocols: (offered: Set<string>) => (offered.has('realtime') ? 'realtime' : false),
    },
  });
  await app.register(fastifyStatic, { root: webFolder, prefix: '/web/' });
  app.get('/', (_request, reply) => reply.sendFile('index.html', webFolder));
  addInformation(app, parts, sessions);
  addRealtime(app, parts, sessions, lobby);
  app.addHook('preClose', async () => {
    sessions.closeAll();
    lobby.closeAll();
  });
  return app;
}

function addInformation(app: FastifyInstance, parts: AppParts, sessions: LiveSessions): void {
  const { config, engines, characters, version } = parts;
  const guard = { preValidation: guardWith(config) };
  const started = process.uptime();
  app.get('/healthz', async () => ({
    status: 'ok',
    version,
    uptime_s: Math.round(process.uptime() - started),
    engines: engines.summary,
    sessions: { active: sessions.active, opened: sessions.opened, most: config.maxSessions },
  }));
  app.get('/characters', guard, async () => ({
    characters: [...characters.values()].map(({ id, name, tagline, languages, work, greetings }) => ({
      id,
      name,
      tagline,
      languages,
      work: { title: work.title, author: work.author ?? null },
      greeting: greetings[0] ?? null,
    })),
  }));
  app.get('/v1/models', guard, async () => ({
    object: 'list',
    data: [...characters.values()].map(({ id }) => ({ id, object: 'model', created: 0, owned_by: 'dramatis' })),
  }));
}

function addRealtime(app: FastifyInstance, parts: AppParts, sessions: LiveSessions, lobby: Lobby): void {
  const guard = guardWith(parts.config);
  app.get(
    '/v1/realtime',
    {
      websocket: true,
      preValidation: async (request, reply) => {
        await guard(request, reply);
        if (reply.sent || sessions.active < parts.config.maxSessions) return;
        await sendProblem(reply, 503, 'server_busy', 'All sessions are taken. Try again later.');
      },
    },
    (socket, request) => {
      sessions.add(socket);
      serveSocket(socket, socketRequest(request.query), { ...parts, lobby }, request.log);
    },
  );
}

/** The query of a WebSocket's address; of a value given twice, the first counts. */
function socketRequest(query: unknown): SocketRequest {
  const asked: Record<string, string> = {};
  for (const [name, value] of Object.entries(query as Record<string, string | string[]>)) {
    const first = Array.isArray(value) ? value[0] : value;
    if (first !== undefined) asked[name] = first;
  }
  return asked;
}

function guardWith(config: Config): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  return async (request, reply) => {
    const refusal = refusalOf(request.headers, config);
    if (refusal === undefined) return;
    await sendProblem(reply, refusal.status, refusal.problem.code, refusal.problem.message);
  };
}

function sendProblem(reply: FastifyReply, status: number, code: ErrorCode, message: string): FastifyReply {
  const { event_id: _unused, ...error } = errorObject({ code, message });
  return reply.code(status).send({ error });
}

/** Nothing of a request is logged but its method and path: keys travel in headers and queries. */
function describeRequest(request: { method: string; url: string }): Record<string, unknown> {
  return { method: request.method, path: request.url.split('?')[0] };
}
