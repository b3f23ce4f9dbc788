import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { EngineError, type CallOptions } from '../../engine.ts';
import { baseUrlSchema, bearer } from '../base-url.ts';
import type { EngineContext } from '../context.ts';
import { openDeadline, type Deadline } from '../deadline.ts';
import { badReply, brokenOff, readJson, type Upstream } from '../http-faults.ts';
import { openSocketPool, type PooledSocket, type SocketPool } from '../socket-pool.ts';
import { openSocket } from '../socket.ts';

/** Default: Mainland China; keys are valid in one region only. */
export const dashscopeUrl = baseUrlSchema.default('wss://dashscope.aliyuncs.com/api-ws/v1/inference');

/** Settings common to all DashScope engines. */
export interface DashscopeServer {
  readonly baseUrl: string;
  /** Workspace to bill, if it is not the key's own. */
  readonly workspace?: string | undefined;
}

/** Parameters of a task. */
export interface DashscopeTaskRequest {
  readonly task: 'asr' | 'tts';
  readonly function: string;
  readonly model: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** One task on Alibaba Cloud's duplex WebSocket, already accepted by the server. */
export interface DashscopeTask {
  /** Sends audio. */
  send(bytes: Uint8Array): void;
  /** Sends text. */
  say(text: string): void;
  /** Marks the end of the input. Without it the server holds back the end of its output. */
  finish(): void;
  /** Outputs as in `payload.output`, and audio, until the task is finished. */
  readonly answers: AsyncGenerator<Readonly<Record<string, unknown>> | Buffer>;
  /** Must always be called in the end: cancels a task that is still running. */
  close(): void;
}

const messageSchema = z.object({
  header: z.object({ event: z.string(), error_code: z.string().optional() }),
  payload: z.object({ output: z.record(z.string(), z.unknown()).optional() }).nullish(),
});
type Message = z.infer<typeof messageSchema>;

/** Tasks of one engine. A connection serves one task after another, and is kept for a while after the last. */
export interface DashscopeTasks {
  /** Starts a task, on a free connection or a new one, and waits until the server accepts it. */
  open(order: DashscopeTaskRequest, options: CallOptions): Promise<DashscopeTask>;
  /** Closes the free connections. */
  close(): void;
}

/** Creates the task pool without connecting yet. */
export function openTasks(context: EngineContext, server: DashscopeServer): DashscopeTasks {
  const connections = openSocketPool(context, () => socketRequest(context, server), idleMs);
  return {
    open: (order, options) => openTask(context, connections, order, options),
    close: () => connections.close(),
  };
}

/** The server closes idle connections after 60 s. */
const idleMs = 45_000;

async function openTask(
  context: EngineContext,
  connections: SocketPool,
  order: DashscopeTaskRequest,
  { signal }: CallOptions,
): Promise<DashscopeTask> {
  const deadline = openDeadline(context.name);
  const cut = AbortSignal.any([signal, deadline.signal]);
  const taskId = randomUUID();
  const start = async (given: PooledSocket): Promise<PooledSocket> => {
    try {
      deadline.expect(context.timeouts.firstByteMs);
      given.send(messageFor(taskId, 'run-task', { task_group: 'audio', ...order, input: {} }));
      const first = await nextOf(given, context);
      if (Buffer.isBuffer(first) || first.header.event !== 'task-started')
        throw badReply(context, 'no start event for the task');
      return given;
    } catch (cause) {
      given.close();
      throw cause;
    } finally {
      deadline.clear();
    }
  };
  const socket = await connections.take(cut, start);
  return taskOn(socket, taskId, { context, deadline });
}

function taskOn(
  socket: PooledSocket,
  taskId: string,
  { context, deadline }: { readonly context: EngineContext; readonly deadline: Deadline },
): DashscopeTask {
  const { firstByteMs, betweenBytesMs } = context.timeouts;
  const tell = (action: string, payload: object): void => socket.send(messageFor(taskId, action, payload));
  let isAsked = false;
  let isOver = false;
  async function* answers(): DashscopeTask['answers'] {
    for (;;) {
      const message = await nextOf(socket, context);
      if (isAsked) deadline.expect(betweenBytesMs);
      if (Buffer.isBuffer(message)) yield message;
      else if (message.header.event === 'task-finished') break;
      else if (message.payload?.output !== undefined) yield message.payload.output;
    }
    isOver = true;
  }
  return {
    send: (bytes) => socket.send(bytes),
    say: (text) => tell('continue-task', { input: { text } }),
    finish() {
      isAsked = true;
      deadline.expect(firstByteMs);
      tell('finish-task', { input: {} });
    },
    answers: answers(),
    close() {
      deadline.clear();
      if (isOver) socket.giveBack();
      else socket.close();
    },
  };
}

function messageFor(taskId: string, action: string, payload: object): string {
  return JSON.stringify({ header: { action, task_id: taskId, streaming: 'duplex' }, payload });
}

async function nextOf(socket: PooledSocket, context: EngineContext): Promise<Message | Buffer> {
  const message = await socket.receive();
  if (message === undefined) throw brokenOff(context);
  return typeof message === 'string' ? readMessage(message, context) : message;
}

/** Checks that the server accepts the key. */
export async function checkDashscope(
  context: EngineContext,
  server: DashscopeServer,
  options: CallOptions,
): Promise<string> {
  const socket = await openSocket(context, socketRequest(context, server), options);
  socket.close();
  return `${new URL(server.baseUrl).host} accepts the key`;
}

function socketRequest({ key }: EngineContext, { baseUrl, workspace }: DashscopeServer) {
  const headers = { ...bearer(key), ...(workspace === undefined ? {} : { 'x-dashscope-workspace': workspace }) };
  return { url: baseUrl, headers };
}

function readMessage(text: string, upstream: Upstream): Message {
  const message = readJson(text, messageSchema, upstream, 'an unknown task message');
  if (message.header.event === 'task-failed') throw taskFault(message.header.error_code ?? '', upstream);
  return message;
}

/** Maps the server's error code; its error text is left out, because it may repeat the conversation. */
function taskFault(code: string, { name, settingNames }: Upstream): EngineError {
  const word = /^[A-Za-z][\w.-]{2,60}$/.test(code) ? ` (${code})` : '';
  if (/^(InvalidApiKey|AccessDenied|Arrearage)/i.test(code)) {
    return new EngineError(name, 'ENGINE_REFUSED', `the server rejected the key${word}. Check ${settingNames.key}.`);
  }
  if (/timeout/i.test(code)) {
    return new EngineError(name, 'ENGINE_TIMEOUT', `the server timed out${word}`);
  }
  if (/^(Throttling|Internal|Service|System|Model(Serving|Unavailable))/i.test(code)) {
    const detail = `the server failed or is overloaded${word}. Try again in a moment.`;
    return new EngineError(name, 'ENGINE_UNAVAILABLE', detail);
  }
  const detail = `the server rejected the task${word}. Check ${settingNames.model}, and that the model has the voice.`;
  return new EngineError(name, 'ENGINE_REFUSED', detail);
}
