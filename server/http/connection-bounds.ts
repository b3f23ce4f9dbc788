import { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config/config.ts';
import { limits } from '../limits/limits.ts';
import { Quota } from '../limits/quota.ts';
import { addressOf } from './auth-guard.ts';
import { answerBrokenRequest } from './open-fastify.ts';
import { sendNotFound } from './problem.ts';

/** Sockets for each session that the server may hold, unless the operator says otherwise. */
const socketsPerSession = 16;

/**
 * Bounds what a client holds before its request is served: sockets, and the time for a body. A request that is refused is
 * answered before its body is read.
 */
export function addConnectionBounds(app: FastifyInstance, config: Config): void {
  boundSockets(app, config);
  endLateUpgrades(app);
  app.addHook('onRequest', async (request, reply) => {
    // Fastify reads the body before it calls the handler for unknown paths.
    if (request.is404) await sendNotFound(request, reply);
  });
  app.addHook('onSend', async (request, reply) => {
    if (hasOpenBody(request)) reply.header('connection', 'close');
  });
  app.addHook('preParsing', async (request, reply) => {
    if (hasOpenBody(request)) watchBody(request, reply);
  });
}

/** Ends the sockets of upgrades that come while the server closes: Fastify refuses them itself, and leaves them open. */
function endLateUpgrades(app: FastifyInstance): void {
  let isClosing = false;
  app.addHook('preClose', async () => void (isClosing = true));
  app.server.on('upgrade', (_request, socket) => {
    if (isClosing) (socket as Socket).destroySoon();
  });
}

/** Closes sockets beyond the setting, and beyond half of it from one address, unless all come from a proxy. */
function boundSockets(app: FastifyInstance, { maxSockets, maxSessions, trustProxy }: Config): void {
  const total = maxSockets ?? socketsPerSession * maxSessions;
  const sockets = new Quota({ total, perKey: trustProxy > 0 ? total : Math.ceil(total / 2) });
  app.server.on('connection', (socket: Socket) => {
    const release = sockets.take(addressOf(socket.remoteAddress));
    if (typeof release === 'function') socket.once('close', release);
    else socket.destroy();
  });
}

/** Returns whether the client has announced a body that has not arrived completely. */
function hasOpenBody({ ws, raw, headers }: FastifyRequest): boolean {
  const isAnnounced = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  return !ws && isAnnounced && !raw.complete;
}

/** Ends a request whose body stalls, or does not end in time. Counts checks, so that a stall of our own process does not count. */
function watchBody({ raw, headers }: FastifyRequest, reply: FastifyReply): void {
  const { socket } = raw;
  // A request of `app.inject` has its whole body, and a stand-in without `destroy` for its socket.
  if (!(socket instanceof Socket)) return;
  const isUpload = /^(?:multipart\/|application\/octet-stream)/i.test(headers['content-type'] ?? '');
  const most = isUpload ? limits.uploadSeconds.value : limits.bodySeconds.value;
  let seenBytes = socket.bytesRead;
  let idle = 0;
  let all = 0;
  const timer = setInterval(() => {
    if (raw.complete || socket.destroyed) return clearInterval(timer);
    idle = socket.bytesRead === seenBytes ? idle + 1 : 0;
    seenBytes = socket.bytesRead;
    all += 1;
    if (idle < limits.bodyIdleSeconds.value && all < most) return undefined;
    clearInterval(timer);
    if (reply.raw.headersSent) return void socket.destroy();
    const fault = Object.assign(new Error('the body did not arrive in time'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
    socket.once('finish', () => socket.destroy());
    answerBrokenRequest(fault, socket);
  }, 1_000);
}
