import { fork, type ChildProcess } from 'node:child_process';
import { EngineError, type CallOptions } from '../engine.ts';
import type { CarriedFault } from './carried-fault.ts';
import { Queue, untilAborted } from './streams.ts';

/** Messages to and from an engine's process; see `process-serve.ts` for the other end. */
export type ProcessMessage<Request> =
  | { readonly data: unknown }
  | { readonly id: number; readonly request: Request }
  | { readonly id: number; readonly abort: true };
export type ProcessReply<Part> =
  /** The engine is loaded: from now on its output may contain the conversation. */
  | { readonly loaded: true }
  | { readonly id: number; readonly part: Part }
  | { readonly id: number; readonly end: true }
  | { readonly id: number; readonly error: CarriedFault };

/**
 * An engine in its own process. Native engines crash the whole process on weights they cannot handle, and a worker
 * thread would take the server down with it; this way the call fails, and the next one restarts the process.
 * `ENGINE_MISSING` if the process ended while loading, otherwise `ENGINE_UNAVAILABLE`.
 */
export interface EngineProcess<Request, Part> {
  /** Makes a request; the first starts the process and loads the engine. Leaving or aborting stops the engine. */
  stream(request: Request, options: CallOptions): AsyncGenerator<Part>;
  /** Like `stream`, for a single part. */
  once(request: Request, options: CallOptions): Promise<Part>;
  /** PID of the running process; undefined if there is none. */
  readonly processId: number | undefined;
  close(): Promise<void>;
}

export interface ProcessSettings {
  /** Names the engine in errors. */
  readonly name: string;
  /** A module that calls `serveProcess`. */
  readonly url: URL;
  /** Argument of the engine's `load`; anything that can be cloned. */
  readonly data: unknown;
  /** Time the process may keep working on an abandoned call before it is killed, in milliseconds. Default: 30 s. */
  readonly patienceMs?: number;
}

export function openProcess<Request, Part>(settings: ProcessSettings): EngineProcess<Request, Part> {
  return new ForkedEngine(settings);
}

/** For most failures, the last line that an engine printed while loading is the only explanation. */
const keptCharacters = 2_000;
const shownCharacters = 300;
const usualPatienceMs = 30_000;

interface Running<Part> {
  readonly child: ChildProcess;
  readonly calls: Map<number, Queue<Part>>;
  /** Abandoned calls, each with the timer that kills the process if the call does not end. */
  readonly left: Map<number, NodeJS.Timeout>;
  /** Output so far; undefined once the engine is loaded. */
  printed: string | undefined;
  isClosing: boolean;
}

class ForkedEngine<Request, Part> implements EngineProcess<Request, Part> {
  readonly #settings: ProcessSettings;
  #running: Running<Part> | undefined;
  #nextId = 1;
  #closed = false;

  constructor(settings: ProcessSettings) {
    this.#settings = settings;
  }

  get processId(): number | undefined {
    return this.#running?.child.pid;
  }

  async *stream(request: Request, { signal }: CallOptions): AsyncGenerator<Part> {
    signal.throwIfAborted();
    if (this.#closed) throw this.#fault('ENGINE_UNAVAILABLE', 'the engine is closed');
    const running = (this.#running ??= this.#start());
    const id = this.#nextId;
    this.#nextId += 1;
    const parts = new Queue<Part>();
    running.calls.set(id, parts);
    hold(running);
    try {
      send(running, { id, request });
      yield* untilAborted(parts, { signal });
    } finally {
      if (running.calls.delete(id)) this.#leave(running, id);
      hold(running);
    }
  }

  async once(request: Request, options: CallOptions): Promise<Part> {
    const parts = await Array.fromAsync(this.stream(request, options));
    if (parts.length > 0) return parts[0] as Part;
    throw this.#fault('ENGINE_BAD_REPLY', 'its process does not respond');
  }

  async close(): Promise<void> {
    this.#closed = true;
    const running = this.#running;
    if (running === undefined) return;
    const { child } = running;
    const gone = new Promise((resolve) => child.once('close', resolve));
    running.isClosing = true;
    hold(running);
    child.kill('SIGKILL');
    await gone;
  }

  #start(): Running<Part> {
    const { url, data } = this.#settings;
    const child = fork(url, { execArgv: [], serialization: 'advanced', stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
    const running: Running<Part> = { child, calls: new Map(), left: new Map(), printed: '', isClosing: false };
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      if (running.printed !== undefined) running.printed = `${running.printed}${text}`.slice(-keptCharacters);
    });
    child.on('message', (reply: ProcessReply<Part>) => take(running, reply, this.#settings.name));
    child.on('error', (cause) =>
      this.#lose(running, this.#fault('ENGINE_UNAVAILABLE', `its process could not be started: ${cause.message}`)),
    );
    // Not `exit`: the last output may arrive after that.
    child.on('close', (code, name) => this.#lose(running, this.#endingOf(running, name ?? `the exit status ${code}`)));
    send(running, { data });
    return running;
  }

  /** Native code cannot be stopped, and some calls never return: their promises would stay pending for good. */
  #leave(running: Running<Part>, id: number): void {
    send(running, { id, abort: true });
    const { patienceMs = usualPatienceMs } = this.#settings;
    running.left.set(id, setTimeout(() => running.child.kill('SIGKILL'), patienceMs).unref());
  }

  #lose(running: Running<Part>, fault: EngineError): void {
    if (this.#running === running) this.#running = undefined;
    const calls = [...running.calls.values()];
    running.calls.clear();
    for (const timer of running.left.values()) clearTimeout(timer);
    for (const parts of calls) parts.fail(fault);
  }

  #endingOf({ printed }: Running<Part>, how: string): EngineError {
    if (this.#closed) return this.#fault('ENGINE_UNAVAILABLE', 'it was closed');
    if (printed === undefined) {
      return this.#fault('ENGINE_UNAVAILABLE', `its process ended with ${how}; the next call restarts it`);
    }
    const last = printed
      .split('\n')
      .map((line) => line.trim())
      .findLast((line) => line !== '');
    const says = last === undefined ? '' : ` Its last output: ${last.slice(0, shownCharacters)}`;
    return this.#fault(
      'ENGINE_MISSING',
      `its process ended with ${how} while loading its weights. They probably do not match the kind in the settings.${says}`,
    );
  }

  #fault(code: EngineError['code'], detail: string): EngineError {
    return new EngineError(this.#settings.name, code, detail);
  }
}

function take<Part>(running: Running<Part>, reply: ProcessReply<Part>, name: string): void {
  if ('loaded' in reply) {
    running.printed = undefined;
    return;
  }
  const parts = running.calls.get(reply.id);
  if (parts === undefined) {
    if ('part' in reply) return;
    clearTimeout(running.left.get(reply.id));
    running.left.delete(reply.id);
    return;
  }
  if ('part' in reply) return parts.push(reply.part);
  running.calls.delete(reply.id);
  if ('end' in reply) parts.end();
  else parts.fail(new EngineError(name, reply.error.code, reply.error.detail));
}

/** A message to a process that has just died is lost; its `close` event reports the death. */
function send<Request>({ child }: Running<unknown>, message: ProcessMessage<Request>): void {
  if (child.connected) child.send(message, () => undefined);
}

/** Keeps our process alive only while the child is working or closing. */
function hold({ child, calls, isClosing }: Running<unknown>): void {
  const act = calls.size > 0 || isClosing ? 'ref' : 'unref';
  child[act]();
  child.channel?.[act]();
  (child.stderr as unknown as { ref(): void; unref(): void } | null)?.[act]();
}
