import type { FastifyBaseLogger } from 'fastify';
import type { RawData, WebSocket } from 'ws';
import { floatsFromPcm16 } from '../../../voices/audio.ts';
import { resolveCharacter, resolveUser } from '../../connections/caller-choice.ts';
import { closeCodes, keepAlive, socketTransport, type Transport } from '../../connections/socket-transport.ts';
import { decodeFrame } from '../../protocol/binary-frame.ts';
import { wireSampleRate } from '../../protocol/limits.ts';
import { newId } from '../../realtime/encode.ts';
import { errorObject } from '../../session/contract/errors.ts';
import type { Problem } from '../../session/contract/events.ts';
import { openStream, type SocketDeps } from '../../connections/open-stream.ts';
import { newToken, type ResumableSession, type ResumableSessions } from '../../connections/resumable-sessions.ts';
import { greetAgain, restoreSession, type Returning } from '../../connections/restored-session.ts';
import { resumeProblem } from '../../connections/session-binding.ts';
import { SessionOpus } from '../../connections/session-opus.ts';
import { clientOf, extensionsOf, type SocketRequest } from '../../connections/socket-request.ts';

/** Serves one WebSocket: opens a session, or resumes one that lost its socket. */
export function serveSocket(socket: WebSocket, request: SocketRequest, deps: SocketDeps, log: FastifyBaseLogger): void {
  socket.on('error', (fault) => log.info({ fault: fault.message }, 'socket error'));
  keepAlive(socket, deps.clock);
  const arrival: Arrival = { socket, request, deps, log };
  if (!extensionsOf(request).has('opus')) return void startSession(arrival);
  // Keeps messages from being lost while Opus loads.
  socket.pause();
  SessionOpus.open().then(
    (opus) => {
      socket.resume();
      const session = socket.readyState === socket.OPEN ? startSession({ ...arrival, opus }) : undefined;
      if (session?.opus !== opus) opus.close();
    },
    (fault: unknown) => {
      log.error({ fault: String(fault) }, 'Opus failed to load');
      socket.resume();
      const message = 'The server cannot load Opus. Request `binary` without `opus`.';
      refuse(socket, { code: 'internal_error', message });
    },
  );
}

interface Arrival extends Returning {
  readonly socket: WebSocket;
}

/** Opens or resumes a session for the socket. Returns undefined if it was refused. */
function startSession(arrival: Arrival): ResumableSession | undefined {
  const { socket, request, deps, log, opus } = arrival;
  const carrier = socketTransport(socket, deps.clock);
  if (request.resume !== undefined) {
    const isHere = deps.resumableSessions.find(request.resume) !== undefined;
    const resumed = resumeSession(arrival, carrier, request.resume);
    const how = resumed === undefined ? 'refused' : isHere ? 'here' : 'restored';
    const { arrivedMs = performance.now() } = request;
    deps.telemetry.noteResume?.({ how, seconds: (performance.now() - arrivedMs) / 1000 });
    return resumed;
  }
  const { caller } = deps;
  const intent = request.intent === 'transcription' ? request.intent : undefined;
  const character = resolveCharacter(intent === undefined ? request.model : undefined, caller.secret, deps);
  if ('code' in character) return refuse(socket, character);
  // The last slot may have been taken since the check during the handshake.
  const refusal = deps.sessions.refusalFor(caller);
  if (refusal !== undefined) return refuse(socket, refusal.problem, 'tryLater');
  const user = resolveUser(request.user, caller.secret);
  if (typeof user === 'object') return refuse(socket, user);
  const extensions = extensionsOf(request);
  const token = extensions.has('resume') ? newToken() : undefined;
  const session = openStream(
    { extensions, opus, token, carrier },
    {
      character,
      model: request.model ?? character.id,
      client: clientOf(extensions, request.beta === true),
      startWith: caller.secret?.startWith,
      intent,
      user,
    },
    deps,
    log,
  );
  carry(socket, carrier, session, token, deps.resumableSessions);
  return session;
}

/** Sends an error to a connection that is refused, and closes it. */
function refuse(socket: WebSocket, problem: Problem, code: 'policy' | 'tryLater' = 'policy'): undefined {
  if (socket.readyState === socket.OPEN) {
    socket.send(JSON.stringify({ type: 'error', event_id: newId('event'), error: errorObject(problem) }));
  }
  socket.close(closeCodes[code], problem.code);
}

/** Attaches a new socket to a session that lost its own, or to one restored from another server process. */
function resumeSession(arrival: Arrival, carrier: Transport, token: string): ResumableSession | undefined {
  const { socket, request, deps } = arrival;
  const { resumableSessions } = deps;
  const found = resumableSessions.find(token);
  const problem = found && resumeProblem(found.binding, deps.caller, request);
  if (problem !== undefined) return refuse(socket, problem);
  const session = resumableSessions.claim(token);
  if (session === undefined) {
    const restored = restoreSession(token, arrival);
    if ('problem' in restored) return refuse(socket, restored.problem, restored.mayRetry ? 'tryLater' : 'policy');
    carry(socket, carrier, restored.session, token, resumableSessions);
    greetAgain(restored, carrier);
    return restored.session;
  }
  const after = Number(request.after ?? Number.NaN);
  // It came from another process and may not know it: the line broke before anything of this one arrived.
  const restarted = session.link.precedes(after) ? { restarted: true } : {};
  const greeting = (received: number): string =>
    JSON.stringify({ type: 'x_dramatis.resumed', event_id: newId('event'), received, ...restarted });
  if (!session.link.attach(carrier, after, greeting)) {
    const message =
      '`after` must be the last x_seq received, and the events after it must still be buffered. Open a new session.';
    if (!session.link.attached) resumableSessions.leave(token);
    return refuse(socket, { code: 'session_not_resumable', message });
  }
  session.connection.away(false);
  carry(socket, carrier, session, token, resumableSessions);
  return session;
}

/** Passes messages of the socket to the session. When the socket closes, the session ends or waits. */
function carry(
  socket: WebSocket,
  carrier: Transport,
  session: ResumableSession,
  token: string | undefined,
  resumableSessions: ResumableSessions,
): void {
  const { link, connection } = session;
  socket.on('message', (data: RawData, isBinary: boolean) => {
    if (isBinary) hear(data as Buffer, session);
    else connection.receiveText(data as Buffer);
  });
  socket.once('close', (code: number) => {
    // With the normal code, the client does not intend to resume.
    link.detach(carrier);
    if (link.attached) return;
    if (code === closeCodes.ended || token === undefined || !resumableSessions.leave(token)) connection.close();
  });
}

/** Takes a binary frame: audio of the user, as PCM or Opus. */
function hear(data: Buffer, { link, connection, opus }: ResumableSession): void {
  const frame = decodeFrame(data);
  if (frame?.kind !== 'input') return connection.reject();
  if ('opus' in frame && opus === undefined) return connection.reject(opusNotAgreed);
  if (!link.takes(frame.sequence)) return;
  const { sequence, replyNumber: player } = frame;
  const take = (): void => {
    // Players whose first packets came together: their decoders are opened one after the other.
    const opening = 'opus' in frame ? opus?.waitFor(player) : undefined;
    if (opening !== undefined) return void opening.then(take);
    const samples = 'opus' in frame ? opus?.decode(frame.opus, player) : floatsFromPcm16(frame.pcm16);
    if (samples === undefined) connection.reject(brokenOpus);
    else if (samples.length > 0) connection.receiveAudio(samples, wireSampleRate, sequence, player);
  };
  take();
}

const opusNotAgreed: Problem = {
  code: 'binary_not_supported',
  message: 'Opus was not negotiated. Request it in the URL (`x=opus`), or send PCM.',
};
const brokenOpus: Problem = {
  code: 'invalid_audio',
  message: 'The frame has no Opus packet, or an incomplete one. It was skipped; send the next one.',
};
