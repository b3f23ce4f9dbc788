import type { WebSocket } from 'ws';
import { openEngineServer, type EngineServer, type Pause } from '../engine-server.ts';
import { pcmOf } from '../../server-audio.ts';

/** Deviations of the server from its default behaviour. */
export interface DashscopeOptions {
  /** The sentences that it recognizes. */
  readonly hears?: readonly string[];
  /** Marks the end of a sentence only by its end time. */
  readonly isOld?: boolean;
  readonly voices?: readonly string[];
  /** Error code that every task ends with. */
  readonly failsWith?: string;
  /** Number of tasks that succeed before that. */
  readonly failsAfter?: number;
}

/** Messages from the client, in order: actions, and the length of each audio block. */
export interface DashscopeServer extends EngineServer {
  readonly told: (string | number)[];
  readonly parameters: Record<string, unknown>[];
  /** Number of closed connections. */
  readonly ended: { readonly count: number };
}

/**
 * Alibaba Cloud's duplex WebSocket: one task at a time, no data before `task-started`, no end without `finish-task`.
 */
export async function openDashscopeServer(options: DashscopeOptions = {}): Promise<DashscopeServer> {
  const told: DashscopeServer['told'] = [];
  const parameters: DashscopeServer['parameters'] = [];
  const ended = { count: 0 };
  const server = await openEngineServer(
    {},
    {
      'WS /api-ws/v1/inference': (socket, request, pause) => {
        socket.once('close', () => (ended.count += 1));
        if (request.headers.authorization === undefined) return socket.close(1008);
        talk(socket, { options, told, parameters, pause });
      },
    },
  );
  return Object.assign(server, { told, parameters, ended });
}

type Told = Pick<DashscopeServer, 'told' | 'parameters'> & {
  readonly options: DashscopeOptions;
  readonly pause: Pause;
};

interface Frame {
  readonly header: { readonly action: string; readonly task_id: string; readonly streaming: string };
  readonly payload: {
    readonly task?: string;
    readonly parameters?: Record<string, unknown>;
    readonly input: { readonly text?: string };
  };
}

function talk(socket: WebSocket, { options, told, parameters, pause }: Told): void {
  let task:
    | { readonly id: string; readonly kind: string; hasStarted: boolean; bytes: number; text: string }
    | undefined;
  const tell = (event: string, output?: object, failure: object = {}): void =>
    socket.send(
      JSON.stringify({
        header: { task_id: task?.id, event, attributes: {}, ...failure },
        payload: output === undefined ? {} : { output },
      }),
    );
  const fail = (code: string): void => {
    tell('task-failed', undefined, { error_code: code, error_message: `no: ${task?.text} ${task?.id}` });
    socket.close();
  };
  const finish = (): void => {
    if (task?.kind === 'asr') for (const each of sentences(options)) tell('result-generated', each);
    else
      for (const each of spoken(task?.text ?? '')) {
        if (Buffer.isBuffer(each)) socket.send(each);
        else tell('result-generated', each);
      }
    tell('task-finished');
    task = undefined;
    pause.rest();
  };
  const run = (frame: Frame): void => {
    if (task !== undefined) return fail('CLIENT_ERROR');
    pause.go();
    task = { id: frame.header.task_id, kind: frame.payload.task ?? '', hasStarted: false, bytes: 0, text: '' };
    const given = frame.payload.parameters ?? {};
    parameters.push(given);
    if (options.failsWith !== undefined && parameters.length > (options.failsAfter ?? 0))
      return fail(options.failsWith);
    const { voices = ['longxiaochun_v2'] } = options;
    if (task.kind === 'tts' && !voices.includes(String(given['voice']))) return fail('InvalidParameter');
    setImmediate(() => {
      if (task !== undefined) task.hasStarted = true;
      tell('task-started');
    });
  };
  socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) {
      told.push(data.length);
      if (task?.hasStarted !== true || task.kind !== 'asr') return fail('CLIENT_ERROR');
      if (task.bytes === 0) tell('result-generated', { sentence: { text: '', heartbeat: true, end_time: null } });
      task.bytes += data.length;
      return;
    }
    const frame = JSON.parse(data.toString('utf8')) as Frame;
    told.push(frame.header.action);
    if (frame.header.action === 'run-task') return run(frame);
    if (task?.hasStarted !== true || frame.header.task_id !== task.id || frame.header.streaming !== 'duplex') {
      return fail('CLIENT_ERROR');
    }
    if (frame.header.action === 'continue-task') task.text += frame.payload.input.text ?? '';
    else finish();
  });
}

/** Partial results, then a final one, for each sentence. */
function* sentences({ hears = ['hello there'], isOld = false }: DashscopeOptions): Generator<object> {
  for (const text of hears) {
    const half = { text: text.slice(0, Math.ceil(text.length / 2)), begin_time: 0, end_time: null };
    yield { sentence: isOld ? half : { ...half, sentence_end: false, heartbeat: false } };
    const whole = { text, begin_time: 0, end_time: 900, words: [] };
    yield { sentence: isOld ? whole : { ...whole, sentence_end: true } };
  }
}

/** Audio in announced frames that cut samples apart. */
function* spoken(text: string): Generator<object | Buffer> {
  const pcm = pcmOf(text, 24_000);
  yield { type: 'sentence-begin', index: 0, original_text: text };
  for (let at = 0; at < pcm.length; at += 4_801) {
    yield { type: 'sentence-synthesis' };
    yield pcm.subarray(at, at + 4_801);
  }
  yield { type: 'sentence-end', usage: { characters: text.length } };
}
