import { openPhoneTalk, type PhoneNode, type PhoneTalk } from './open-talk.ts';
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify';
import { WebSocketServer, type RawData, type WebSocket } from 'ws';
import type { Check, AuthGuard } from '../../http/auth-guard.ts';
import { sendProblem, sendRefusal, type Refusal } from '../../http/problem.ts';
import { closeCodes, keepAlive, socketTransport } from '../../connections/socket-transport.ts';
import type { Problem } from '../../session/contract/events.ts';
import type { SocketDeps } from '../../connections/open-stream.ts';
import { parseTwilioMessage, type TwilioCommand, type TwilioMessage } from './messages.ts';
import { createHmac } from 'node:crypto';
import { sameSecret } from '../../config/api-keys.ts';
import { limits } from '../../limits/limits.ts';
import { Quota } from '../../limits/quota.ts';

type Deps = Omit<SocketDeps, 'caller'>;

type Start = Extract<TwilioMessage, { event: 'start' }>['start'];

/** Path of the route. */
export const twilioPath = '/v1/twilio';

/**
 * Adds `WS /v1/twilio`, the target of Twilio's `<Connect><Stream>` for a phone call, if Twilio is configured. Twilio can
 * send neither headers nor a query, so character, key and user come as custom parameters of its `start` message. Until
 * then nothing is done, and little is held: the route has a WebSocket server of its own, because a frame of other clients
 * may have megabytes, and few calls may wait.
 */
export function addTwilio(app: FastifyInstance, deps: Deps, guard: AuthGuard, node: PhoneNode | undefined): void {
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
          answer(socket, request, place, { deps, guard, node }),
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

/** Two seconds of speech: as long as another node may take to leave a session. */
const mostEarly = 100;

interface AnswerParts {
  readonly deps: Deps;
  readonly guard: AuthGuard;
  readonly node: PhoneNode | undefined;
}

function answer(socket: WebSocket, request: FastifyRequest, hasBegun: () => void, parts: AnswerParts): void {
  const { log } = request;
  const { deps } = parts;
  let call: PhoneTalk | undefined;
  /** Frames that arrive while the session is being opened. */
  let early: TwilioMessage[] | undefined;
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
    call?.lose();
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
      else call.hangUp();
    } else if (call !== undefined) call.receive(message);
    else if (early !== undefined) {
      if (early.length < mostEarly) early.push(message);
    } else if (message.event === 'start') {
      early = [];
      clearTimeout(patience);
      void begin(socket, message.start, request, parts).then((begun) => {
        call = begun;
        if (begun === undefined) return;
        hasBegun();
        for (const one of early ?? []) begun.receive(one);
        if (socket.readyState !== socket.OPEN) begun.lose();
      });
    }
  });
}

/** Authenticates the caller and opens or continues a session; or hangs up. */
async function begin(
  socket: WebSocket,
  { streamSid, customParameters }: Start,
  request: FastifyRequest,
  { deps, guard, node }: AnswerParts,
): Promise<PhoneTalk | undefined> {
  const { log } = request;
  const { key, character: model, user, resume } = customParameters;
  const caller = await guard.callerOf(request, key);
  if ('status' in caller) return hangUp(socket, caller.problem, log);
  const carrier = socketTransport(socket);
  const line = { streamSid, tell: (command: TwilioCommand) => carrier.send(JSON.stringify(command)) };
  const wanted = { model, user, resume };
  const talk = await openPhoneTalk({ line, carrier, wanted }, { ...deps, caller }, node, log);
  if (!('code' in talk)) return talk;
  return hangUp(socket, talk, log, talk.mayRetry === true ? 'tryLater' : 'policy');
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
