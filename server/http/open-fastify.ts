import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import fastify, { LogController, type FastifyError, type FastifyInstance } from 'fastify';
import type { Config } from '../config/config.ts';
import { errorObject, type ErrorCode } from '../session/contract/errors.ts';
import type { TlsCredentials } from '../tls/dev-certificate.ts';
import { limits } from '../limits/limits.ts';
import { sendNotFound, sendProblem } from './problem.ts';

/** Listening options, and the log stream (standard output unless given). */
export interface ListenParts {
  readonly config: Config;
  readonly tls?: TlsCredentials | undefined;
  readonly log?: { write(line: string): void } | undefined;
}

/**
 * Only our own files, no inline code, no frames; requests and WebSockets to our own address only. Code that is injected
 * in spite of that can send nothing elsewhere.
 */
const contentSecurityPolicy = [
  "default-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data: blob:",
  "media-src 'self' blob:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** Time within which a whole request must have arrived, if nothing else has ended it. */
const requestTimeoutMs = (limits.uploadSeconds.value + 30) * 1000;

const securityHeaders = {
  'content-security-policy': contentSecurityPolicy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
} as const;

/**
 * Creates a server without routes: TLS, timeouts, a log without secrets, security headers, and errors in OpenAI's
 * format.
 */
export function openFastify({ config, tls, log }: ListenParts): FastifyInstance {
  const { handshakeTimeoutMs, trustProxy } = config;
  const timeouts = {
    headersTimeout: handshakeTimeoutMs,
    connectionsCheckingInterval: Math.min(1_000, handshakeTimeoutMs),
  };
  const app = fastify({
    ...(tls === undefined
      ? { http: timeouts }
      : { https: { ...tls, ...timeouts, handshakeTimeout: handshakeTimeoutMs } }),
    // Counts hops from the nearest proxy; addresses that a client wrote into the header itself lie beyond the trusted
    // hops.
    trustProxy: trustProxy === 0 ? false : (_address: string, hop: number) => hop < trustProxy,
    logger: {
      level: config.logLevel,
      serializers: { req: describeRequest },
      redact: { paths: ['path'], censor: (url: unknown) => String(url).split('?')[0] },
      ...(log === undefined ? {} : { stream: log }),
    },
    logController: new LogController({ disableRequestLogging: true }),
    forceCloseConnections: true,
    requestTimeout: requestTimeoutMs,
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: (fault, _request, reply) =>
      void sendProblem(reply.headers(securityHeaders), 400, { code: 'invalid_event', message: fault.message }),
  }) as unknown as FastifyInstance;
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const status = error.statusCode ?? 500;
    const code: ErrorCode = status === 413 ? 'message_too_large' : status < 500 ? 'invalid_event' : 'internal_error';
    // The message of a client error may quote what the client sent, so it is not logged. Our own faults are logged with
    // their stack.
    if (status < 500) request.log.info({ code: error.code, status }, 'request failed');
    else request.log.error({ code: error.code, fault: error.stack }, 'request failed');
    const message = status < 500 ? error.message : 'The request failed. See the server’s log.';
    return sendProblem(reply, status, { code, message });
  });
  app.setNotFoundHandler(sendNotFound);
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers(securityHeaders);
  });
  return app;
}

/** Logs only method and path of a request, because headers and queries carry keys. */
function describeRequest(request: { method: string; url: string }): Record<string, unknown> {
  return { method: request.method, path: request.url.split('?')[0] };
}

/** Answers a request that is not HTTP, is too long, or arrived too slowly, and closes the socket. */
export function answerBrokenRequest(fault: Error & { readonly code?: string }, socket: Socket): void {
  if (socket.destroyed || fault.code === 'ECONNRESET') return;
  const [status, message] =
    fault.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? [408, 'The request did not arrive in time. Send it again.']
      : fault.code === 'HPE_HEADER_OVERFLOW'
        ? [431, 'The request headers are too large. Shorten them.']
        : [400, 'The data is not an HTTP request.'];
  const { event_id: _unused, ...error } = errorObject({ code: 'invalid_event', message });
  const body = JSON.stringify({ error });
  const headers = {
    ...securityHeaders,
    'content-type': 'application/json',
    'content-length': body.length,
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  if (socket.writable) socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
  else socket.destroy();
}
