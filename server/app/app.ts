import { existsSync } from 'node:fs';
import path from 'node:path';
import fastifyStatic from '@fastify/static';
import fastifyWebsocket from '@fastify/websocket';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Character } from '../../characters/character.ts';
import { hasPicture } from '../../characters/pack-folder.ts';
import type { Node, Patience } from '../cluster/node.ts';
import type { Engines } from '../engines/engines.ts';
import { hashOf, ResumableSessions } from '../connections/resumable-sessions.ts';
import { sessionFiles } from '../journal/journal-file.ts';
import { asyncapiDocument } from '../protocol/asyncapi.ts';
import { openTerms } from '../connections/governed.ts';
import { limits } from '../protocol/limits.ts';
import type { Memories } from '../memory/memories.ts';
import { addTwilio, twilioPath } from '../transports/phone/route.ts';
import { addCalls } from '../transports/webrtc/route.ts';
import { openMetrics, type Metrics } from '../telemetry/metrics.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { VoiceWatch } from '../telemetry/voice-watch.ts';
import { builtInCharacters } from '../cast/cast.ts';
import { describeScene } from '../cast/cast-scene.ts';
import { addClientSecrets } from '../rest/client-secrets-route.ts';
import { ClientSecrets } from '../http/client-secrets.ts';
import { addConnectionBounds } from '../http/connection-bounds.ts';
import { addCors } from '../http/cors.ts';
import { createAuthGuard, type AuthGuard } from '../http/auth-guard.ts';
import { addHostGuard } from '../http/host-guard.ts';
import { LiveSessions } from '../http/live-sessions.ts';
import { LoopWatch } from '../http/loop-watch.ts';
import { openFastify, type ListenParts } from '../http/open-fastify.ts';
import { sendProblem } from '../http/problem.ts';
import { addRest } from '../rest/rest.ts';
import type { SocketDeps } from '../connections/open-stream.ts';
import { serveSocket } from '../transports/websocket/realtime.ts';
import { socketRequestOf } from '../connections/socket-request.ts';

/** Dependencies of the server. The caller opens and closes them. */
export interface AppParts extends ListenParts {
  readonly engines: Engines;
  readonly characters: Map<string, Character>;
  readonly version: string;
  /** Given if the caller wants to drain the sessions before it closes the server. */
  readonly sessions?: LiveSessions;
  /** Given if the machine is so slow that other nodes and Redis are no sooner missed. */
  readonly patience?: Patience;
  /** Given if the caller wants to see how much the client secrets hold. */
  readonly secrets?: ClientSecrets;
  /** Set if turns are traced. */
  readonly tracing?: Telemetry | undefined;
  /** Memory store of the characters; without it they remember nothing. The caller closes it. */
  readonly memories?: Memories | undefined;
  /** Monitors whether characters sound like their reference voice; off unless given. */
  readonly voiceWatch?: VoiceWatch | undefined;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Time at which a WebSocket was asked for, of `performance.now()`. */
    arrivedMs: number;
  }
}

const realtimePath = '/v1/realtime';
const webFolder = path.join(import.meta.dirname, '..', 'web');
const clientFolder = path.join(import.meta.dirname, '..', 'client');

/** Builds the HTTP and WebSocket server. Closing it notifies every client. */
export async function buildApp(parts: AppParts): Promise<FastifyInstance> {
  const { config, sessions = new LiveSessions(parts.config), secrets = new ClientSecrets() } = parts;
  const app = openFastify(parts);
  addCors(app, config);
  const resumableSessions = new ResumableSessions(config.resumeGraceSeconds * 1000);
  const isOpen = (token: string): boolean => resumableSessions.find(token) !== undefined;
  const node = await joinNodes(app, { ...parts, secrets, sessions }, isOpen);
  const store = node?.cluster ?? (config.store ? sessionFiles(config.dataDir) : undefined);
  const isResumable =
    node?.isResumable ?? ((token: string): boolean => isOpen(token) || store?.has(hashOf(token)) === true);
  const counted = parts.memories?.state === 'off' ? undefined : parts.memories;
  const metrics = openMetrics({
    engines: () => parts.engines.summary,
    sessions,
    watchesVoices: parts.voiceWatch !== undefined,
    node: node?.counts,
    memories: counted,
  });
  const relayedAddress = node?.relayedAddress;
  const learnSecret = node?.secrets.learn.bind(node.secrets);
  const counts = { onFailedKey: metrics.noteFailedKey, onRefusal: metrics.noteRefusal };
  const found = { isResumable, relayedAddress, learnSecret };
  const auth = createAuthGuard({ config, secrets, sessions, ...found, ...counts });
  const terms = await openTerms(config, app.log, node && ((...spent) => node.cluster.counts.spend(...spent)));
  const telemetry = bothOf(metrics, parts.tracing);
  const shared = { ...parts, ...terms, resumableSessions, store, sessions, telemetry };
  await app.register(fastifyWebsocket, {
    options: {
      // Twice the limit, so that a frame slightly too large gets a coded error and the session survives.
      maxPayload: 2 * limits.frameBytes,
      perMessageDeflate: false,
      // One frame of each client in turn: else 64 KiB of small events of one hold up the others.
      allowSynchronousEvents: false,
      handleProtocols: (offered: Set<string>) => (offered.has('realtime') ? 'realtime' : false),
    },
    // The plugin's own `preClose` would close every socket without a reason.
    preClose: (done) => done(),
  });
  // After the plugin, whose own hook closes the socket of a refused upgrade.
  addHostGuard(app, config);
  addConnectionBounds(app, config);
  // The plugin would upgrade a WebSocket on any other route, too, before it closes it.
  app.addHook('onRequest', async (request, reply) => {
    const { url } = request.routeOptions;
    if (request.ws && url !== realtimePath && url !== twilioPath)
      await sendProblem(reply, 404, { code: 'not_found', message: 'There is no WebSocket at this address.' });
  });
  await app.register(fastifyStatic, { root: webFolder, prefix: '/web/' });
  await app.register(fastifyStatic, { root: clientFolder, prefix: '/client/', decorateReply: false });
  app.get('/characters.html', (_request, reply) => reply.sendFile('characters.html', webFolder));
  app.get('/', (_request, reply) => reply.sendFile('index.html', webFolder));
  addInformation(app, parts, sessions, auth);
  addMetrics(app, metrics, auth);
  addRealtime(app, shared, auth, node);
  addClientSecrets(app, { ...parts, shareSecret: node?.secrets.share.bind(node.secrets) }, secrets, auth);
  addTwilio(app, shared, auth, node);
  addCalls(app, shared, auth, node);
  await addRest(app, { ...parts, secrets, ...terms }, auth);
  app.addHook('preClose', async () => {
    await sessions.drain(0);
    resumableSessions.closeAll();
    await node?.close();
  });
  return app;
}

function addInformation(app: FastifyInstance, parts: AppParts, sessions: LiveSessions, auth: AuthGuard): void {
  const { config, engines, characters, version } = parts;
  const guard = { onRequest: auth.serverKey };
  const started = process.uptime();
  const asyncapi = asyncapiDocument(version);
  const importedFolder = path.resolve(config.dataDir, 'characters');
  const { maxLoopDelayMs } = config;
  const loop = maxLoopDelayMs === undefined ? undefined : new LoopWatch(maxLoopDelayMs);
  app.addHook('onClose', async () => loop?.close());
  app.get('/healthz', async (request, reply) => {
    const status = sessions.draining ? 'draining' : loop?.isLate === true ? 'busy' : 'ok';
    reply.code(status === 'ok' ? 200 : 503).header('cache-control', 'no-store');
    if (!auth.isInsider(request)) return { status };
    return {
      status,
      version,
      uptime_s: Math.round(process.uptime() - started),
      engines: engines.summary,
      memory: parts.memories?.state ?? 'off',
      providers: engines.providers,
      sessions: { active: sessions.active, opened: sessions.opened, most: config.maxSessions },
    };
  });
  // A server that is stopping is alive, and not ready: an orchestrator must not kill it.
  app.get('/livez', async (_request, reply) => {
    reply.header('cache-control', 'no-store');
    return { status: 'alive' };
  });
  app.get('/asyncapi.json', async () => asyncapi);
  app.get('/characters', guard, async () => ({
    ...engineFacts(engines),
    characters: listingOrder([...characters.values()], config).map(
      ({ id, name, tagline, languages, work, greetings, stage }) => ({
        id,
        name,
        tagline,
        languages,
        work: { title: work.title, author: work.author ?? null },
        greeting: stage?.scene.circumstance ?? greetings[0] ?? null,
        ...(stage === undefined ? {} : { scene: describeScene(id, stage) }),
        picture: stage === undefined && hasPicture(path.join(importedFolder, id)),
      }),
    ),
  }));
  app.get('/v1/models', guard, async () => ({
    object: 'list',
    data: [...characters.values()].map(({ id }) => ({ id, object: 'model', created: 0, owned_by: 'dramatis' })),
  }));
}

/** Facts of the engines that every user may know: who makes the replies, and which languages are heard. */
function engineFacts({ summary, llm, recognizer }: Engines) {
  const omni = summary.find(({ stage }) => stage === 'omni');
  return {
    scripted: llm === undefined && omni === undefined,
    model: omni?.name ?? llm?.model ?? null,
    hears: omni === undefined ? recognizer.languages : [],
  };
}

/** The user's own characters first, then the default one, the others and the scenes. */
function listingOrder(all: readonly Character[], config: AppParts['config']): Character[] {
  const rank = ({ id, stage }: Character): number => {
    if (stage !== undefined) return 3;
    if (!existsSync(path.join(builtInCharacters, id))) return 0;
    return id === config.defaultCharacter ? 1 : 2;
  };
  return all.toSorted((one, other) => rank(one) - rank(other));
}

function bothOf(metrics: Telemetry, tracing: Telemetry | undefined): Telemetry {
  if (tracing === undefined) return metrics;
  return {
    ...metrics,
    note(event, about) {
      metrics.note(event, about);
      tracing.note(event, about);
    },
  };
}

function addMetrics(app: FastifyInstance, metrics: Metrics, auth: AuthGuard): void {
  app.get('/metrics', { onRequest: auth.serverKey }, async (_request, reply) => {
    reply.type(metrics.contentType);
    return metrics.text();
  });
}

/** Makes the server one of several nodes, if it is to be one. */
async function joinNodes(
  app: FastifyInstance,
  {
    config,
    patience,
    version,
    characters,
    secrets,
    sessions,
  }: AppParts & Pick<Required<AppParts>, 'secrets' | 'sessions'>,
  isOpen: (token: string) => boolean,
): Promise<Node | undefined> {
  if (config.redisUrl === undefined) return undefined;
  // Loaded only if it is needed.
  const { openNode } = await import('../cluster/node.ts');
  const onChange = (isThere: boolean, fault?: unknown): void => {
    if (isThere) app.log.info('Redis answers again');
    else app.log.error({ code: 'store_unavailable', fault: String(fault) }, 'Redis does not answer; sessions continue');
  };
  return openNode({ config, patience, secrets, characters, version, sessions, isOpen, onChange });
}

function addRealtime(
  app: FastifyInstance,
  shared: Omit<SocketDeps, 'caller'>,
  auth: AuthGuard,
  node: Node | undefined,
): void {
  const admit = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> =>
    node?.admit(request, reply, auth.authenticatedCaller(request));
  app.decorateRequest('arrivedMs', 0);
  const noteArrival = async (request: FastifyRequest): Promise<void> => void (request.arrivedMs = performance.now());
  app.route({
    method: 'GET',
    url: realtimePath,
    onRequest: [noteArrival, auth.session, ...(node === undefined ? [] : [node.bringBack, admit])],
    handler: (_request, reply) =>
      sendProblem(reply, 404, { code: 'not_found', message: 'Only WebSockets are served here.' }),
    wsHandler: (socket, request) => {
      shared.sessions.add(socket);
      const deps = { ...shared, caller: auth.authenticatedCaller(request) };
      const { arrivedMs } = request;
      serveSocket(socket, { ...socketRequestOf(request), arrivedMs }, deps, request.log);
    },
  });
}
