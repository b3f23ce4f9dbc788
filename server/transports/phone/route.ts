import { telephoneSession, MediaStream } from './media-stream.ts';
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify';
import { WebSocketServer, type RawData, type WebSocket } from 'ws';
import type { Check, AuthGuard } from '../../http/auth-guard.ts';
import { openSession, type SessionDeps, type SessionPeer } from '../../connections/open-session.ts';
import { sendProblem, sendRefusal, type Refusal } from '../../http/problem.ts';
import { resolveCharacter, resolveUser } from '../../connections/caller-choice.ts';
import { closeCodes, keepAlive, socketTransport } from '../../connections/socket-transport.ts';
import type { SessionPatch } from '../../protocol/client-events.ts';
import type { Connection } from '../../realtime/connection.ts';
import type { Problem } from '../../session/contract/events.ts';
import { parseTwilioMessage, type TwilioMessage } from './messages.ts';
import { createHmac } from 'node:crypto';
import { g711SampleRate } from '../../../voices/dsp/g711.ts';
import { sameSecret } from '../../config/api-keys.ts';
import { limits } from '../../limits/limits.ts';
import { Quota } from '../../limits/quota.ts';

type Deps = Omit<SessionDeps, 'caller'>;

type Start = Extract<TwilioMessage, { event: 'start' }>['start'];

/** Path of the route. */
export const twilioPath = '/v1/twilio';

/**
 * Adds `WS /v1/twilio`, the target of Twilio's `<Connect><Stream>` for a phone call, if Twilio is configured. Twilio can
 * send neither headers nor a query, so character, key and user come as custom parameters of its `start` message. Until
 * then nothing is done, and little is held: the route has a WebSocket server of its own, because a frame of other clients
 * may have megabytes, and few calls may wait.
 */
export function addTwilio(app: FastifyInstance, deps: Deps, guard: AuthGuard): void {
  const { twilio, twilioAuthToken } = deps.config;
  if (!twilio && twilioAuthToken === undefined) return;
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: limits.openingFrameBytes.value,
    perMessageDeflate: false,
    allowSynchronousEvents: false,
    clientTracking: false,
  });
  const waiting = new Quota({ total: limits.openingSockets.value, perKey: limits.openingSocketsPerAddress.value });
  app.route({
    method: 'GET',
    url: twilioPath,
    onRequest: [
      guard.call,
      signed(twilioAuthToken),
      async (request, reply) => {
        if (!request.ws) return;
        const place = waiting.take(guard.addressOf(request));
        if (typeof place !== 'function') return void (await sendRefusal(reply, tooManyWaiting(place)));
        reply.hijack();
        request.raw.socket.once('close', place);
        // A client sends nothing before its handshake is answered, so there is no first packet to pass on.
        server.handleUpgrade(request.raw, request.raw.socket, Buffer.alloc(0), (socket) =>
          answer(socket, request, place, deps, guard),
        );
      },
    ],
    handler: (_request, reply) =>
      sendProblem(reply, 404, { code: 'not_found', message: 'Only WebSockets are served here.' }),
  });
}

function tooManyWaiting(whose: 'total' | 'key'): Refusal {
  const problem: Problem =
    whose === 'total'
      ? { code: 'server_busy', message: 'Too many calls wait for their start message. Try again later.' }
      : { code: 'too_many_sessions', message: 'Too many calls of this address wait for their start message.' };
  return { status: whose === 'total' ? 503 : 429, problem, retryAfterSeconds: 5 };
}

/** If the server has Twilio's auth token, refuses connections without Twilio's signature. */
function signed(authToken: string | undefined): Check {
  return async (request, reply) => {
    const refusal = authToken === undefined ? undefined : signatureRefusal(request, authToken);
    if (refusal === undefined) return;
    request.log.info({ code: refusal.problem.code }, 'request refused');
    await sendRefusal(reply, refusal);
  };
}

interface Call {
  readonly stream: MediaStream;
  readonly connection: Connection;
}

function answer(socket: WebSocket, request: FastifyRequest, hasBegun: () => void, deps: Deps, guard: AuthGuard): void {
  const { log } = request;
  let call: Call | undefined;
  let isPuzzled = false;
  deps.sessions.add(socket);
  keepAlive(socket);
  const patience = setTimeout(() => {
    hangUp(socket, { code: 'invalid_event', message: 'Twilio sent no start message.' }, log);
    // One that has not begun in time might not answer the close frame either.
    socket.terminate();
  }, deps.config.handshakeTimeoutMs);
  socket.on('error', (fault) => log.info({ fault: fault.message }, 'socket error'));
  socket.once('close', () => {
    clearTimeout(patience);
    call?.connection.close();
  });
  socket.on('message', (data: RawData, isBinary: boolean) => {
    // A refused connection may still be sending.
    if (socket.readyState !== socket.OPEN) return;
    const message = isBinary ? undefined : parseTwilioMessage((data as Buffer).toString('utf8'));
    if (message === undefined) {
      if (!isPuzzled) log.info('unknown message from Twilio ignored');
      isPuzzled = true;
    } else if (message.event === 'stop') {
      if (call === undefined) socket.close(closeCodes.ended);
      else call.connection.close();
    } else if (call !== undefined) call.stream.receive(message);
    else if (message.event === 'start') {
      clearTimeout(patience);
      call = begin(socket, message.start, request, deps, guard);
      if (call !== undefined) hasBegun();
    }
  });
}

/** Authenticates the caller and opens the session, or hangs up. */
function begin(
  socket: WebSocket,
  start: Start,
  request: FastifyRequest,
  deps: Deps,
  guard: AuthGuard,
): Call | undefined {
  const { log } = request;
  const { character: wanted, key, user: named } = start.customParameters;
  const caller = guard.callerOf(request, key);
  if ('status' in caller) return hangUp(socket, caller.problem, log);
  const refusal = deps.sessions.refusalFor(caller);
  if (refusal !== undefined) return hangUp(socket, refusal.problem, log, 'tryLater');
  const character = resolveCharacter(wanted, caller.secret, deps);
  if ('code' in character) return hangUp(socket, character, log);
  const user = resolveUser(named, caller.secret);
  if (typeof user === 'object') return hangUp(socket, user, log);
  const carrier = socketTransport(socket);
  const stream = new MediaStream(start.streamSid, {
    tell: (command) => carrier.send(JSON.stringify(command)),
    ask: (event) => connection.receive(event),
    hear: (samples) => connection.receiveAudio(samples, g711SampleRate),
  });
  const peer: SessionPeer = {
    send: (event) => stream.send(event),
    sendAudio: (audio) => stream.sendAudio(audio),
    close: (reason) => carrier.close(reason),
  };
  const connection = openSession(
    {
      character,
      model: wanted ?? character.id,
      client: { holds: true },
      user,
      startWith: startOf(caller.secret?.startWith),
    },
    peer,
    { ...deps, caller },
    log,
  );
  stream.greet();
  return { stream, connection };
}

/** The settings of a client secret, with the telephone's audio format. */
function startOf(wanted: SessionPatch | undefined): SessionPatch {
  return {
    ...wanted,
    audio: {
      input: { ...wanted?.audio?.input, ...telephoneSession.audio?.input },
      output: { ...wanted?.audio?.output, ...telephoneSession.audio?.output },
    },
  };
}

/** Twilio does not report close reasons, so the reason is logged. */
function hangUp(
  socket: WebSocket,
  { code }: Problem,
  log: FastifyBaseLogger,
  because: 'policy' | 'tryLater' = 'policy',
): undefined {
  log.info({ code }, 'call refused');
  socket.close(closeCodes[because], code);
}

/**
 * Returns a `Refusal` unless a handshake is signed by Twilio. Twilio signs the URL of the stream, as given in the
 * TwiML, with the account's auth token (HMAC-SHA1, base64; see "Validating signatures" in Twilio's docs). The scheme is
 * always `wss`; some accounts sign the URL with a trailing slash.
 */
function signatureRefusal(request: FastifyRequest, authToken: string): Refusal | undefined {
  const shown = request.headers['x-twilio-signature'];
  const address = `wss://${request.host}${request.url}`;
  const isTwilio = [address, `${address}/`].some((signed) => {
    const expected = createHmac('sha1', authToken).update(signed).digest('base64');
    return typeof shown === 'string' && sameSecret(expected, shown);
  });
  if (isTwilio) return undefined;
  const message =
    'The Twilio signature does not match this address. Check DRAMATIS_TWILIO_AUTH_TOKEN, and that the host is the one in the TwiML.';
  return { status: 403, problem: { code: 'invalid_twilio_signature', message } };
}
