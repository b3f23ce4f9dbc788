import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import {
  Metadata,
  Server,
  ServerCredentials,
  status,
  type sendUnaryData,
  type ServerDuplexStream,
  type ServerUnaryCall,
} from '@grpc/grpc-js';
import { tritonService } from '../../../voices/calls/triton/triton.ts';
import { CallCount, cut, type Fault } from './faults.ts';
import type { EngineServer, SeenRequest } from './engine-server.ts';

/** A request: inputs by name, as bytes. */
export interface TritonRequest {
  readonly model: string;
  readonly id: string;
  readonly inputs: Readonly<
    Record<string, { readonly datatype: string; readonly shape: number[]; readonly raw: Buffer }>
  >;
  /** The text in an input, without its length prefix. */
  text(name: string): string;
}

/** One response of a model. */
export interface TritonOutput {
  readonly name: string;
  readonly datatype: string;
  readonly shape: readonly number[];
  readonly raw: Buffer;
}

/** A fault specific to this protocol. */
export type TritonFault =
  /** An error in a response message, after this many responses. */
  | { readonly kind: 'error-message'; readonly after: number }
  /** A regular end of the stream without the final-response flag. */
  | { readonly kind: 'end'; readonly after: number }
  | { readonly kind: 'status'; readonly code: number; readonly after: number };

/** Deviations of the model from its default behaviour. */
export interface TritonOptions {
  /** Input names, reported in the model's metadata. */
  readonly inputs?: readonly string[];
  readonly isReady?: boolean;
  /** False: like a server that does not know the final-response flag. */
  readonly flags?: boolean;
  readonly goesWrong?: TritonFault;
}

export interface TritonServer extends EngineServer {
  readonly seen: readonly TritonRequest[];
  readonly keys: readonly string[];
}

type Model = (request: TritonRequest) => Iterable<TritonOutput> | AsyncIterable<TritonOutput>;
type Call = ServerDuplexStream<Record<string, unknown>, object>;

export const inferRoute = 'POST /inference.GRPCInferenceService/ModelStreamInfer';

/** NVIDIA's Triton, as far as engines need it: a real gRPC server with one decoupled model. */
export async function openTritonServer(model: Model, options: TritonOptions = {}): Promise<TritonServer> {
  const seen: TritonRequest[] = [];
  const keys: string[] = [];
  const sockets = new Set<Socket>();
  const toEach = (how: (socket: Socket) => unknown): void => {
    for (const socket of sockets) how(socket);
  };
  const calls = new CallCount(({ kind }) => {
    // These faults affect the connection, so the next call needs a new one.
    if (kind === 'page' || kind === 'pieces') toEach((socket) => socket.destroy());
  });
  const infer = (call: Call): void => {
    const end = calls.begin();
    let isOver = false;
    const over = (isComplete: boolean): void => {
      if (!isOver) end(isComplete);
      isOver = true;
    };
    // The server ends a call regularly, or with a status that arrives here as an error.
    call.once('error', () => over(true)).once('finish', () => over(true));
    call.once('cancelled', () => over(false));
    call.once('data', (body: Record<string, unknown>) => {
      const request = readRequest(body);
      seen.push(request);
      keys.push(String(call.metadata.get('authorization')[0] ?? ''));
      calls.requests.push(asSeen(body));
      void answer(call, model(request), { fault: calls.faultFor(inferRoute), toEach, options });
    });
  };
  const grpc = new Server({ 'grpc.max_receive_message_length': 64 * 2 ** 20 });
  const methods = {
    ModelStreamInfer: infer,
    ModelReady: (_call: ServerUnaryCall<object, object>, done: sendUnaryData<object>) =>
      done(null, { ready: options.isReady ?? true }),
    ModelMetadata: (_call: ServerUnaryCall<object, object>, done: sendUnaryData<object>) =>
      done(null, { inputs: (options.inputs ?? []).map((name) => ({ name })) }),
  };
  grpc.addService(tritonService(), methods);
  const injector = grpc.createConnectionInjector(ServerCredentials.createInsecure());
  const front = createServer((socket) => {
    calls.connections += 1;
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket)).on('error', () => undefined);
    const fault = calls.breakage?.fault;
    if (fault?.kind === 'page') {
      // Like nginx's answer to a request that is not HTTP/1.
      socket.end('HTTP/1.1 400 Bad Request\r\ncontent-type: text/html\r\n\r\n<!doctype html><title>nginx</title>');
    } else if (fault?.kind === 'pieces') injector.injectConnection(inPieces(socket, fault.sizes));
    else injector.injectConnection(socket);
  });
  front.listen(0, '127.0.0.1');
  await once(front, 'listening');
  return Object.assign(calls, {
    url: `http://127.0.0.1:${(front.address() as AddressInfo).port}`,
    seen,
    keys,
    async [Symbol.asyncDispose]() {
      injector.destroy();
      grpc.forceShutdown();
      toEach((socket) => socket.destroy());
      front.close();
      await once(front, 'close');
    },
  });
}

interface Spoiling {
  readonly fault: Fault | undefined;
  readonly toEach: (how: (socket: Socket) => unknown) => void;
  readonly options: TritonOptions;
}

/** Sends the responses of the model and the final flag, or the fault. */
async function answer(
  call: Call,
  outputs: Iterable<TritonOutput> | AsyncIterable<TritonOutput>,
  { fault, toEach, options }: Spoiling,
): Promise<void> {
  if (fault?.kind === 'hang') return;
  if (fault?.kind === 'reset') return toEach((socket) => socket.resetAndDestroy());
  if (fault?.kind === 'status') return refuse(call, fault);
  if (fault?.kind === 'late') await pause(fault.ms);
  call.sendMetadata(new Metadata());
  if (fault?.kind === 'garbage') return toEach((socket) => socket.write(Buffer.alloc(99, 'not http/2')));
  if (fault?.kind === 'empty') return void call.end();
  if (fault !== undefined && 'after' in fault) return answerInPart(call, await Array.fromAsync(outputs), fault, toEach);
  await answerInFull(call, outputs, options);
}

async function answerInFull(
  call: Call,
  outputs: Iterable<TritonOutput> | AsyncIterable<TritonOutput>,
  { flags = true, goesWrong }: TritonOptions,
): Promise<void> {
  let count = 0;
  for await (const output of outputs) {
    if (goesWrong?.after === count) return goWrong(call, goesWrong);
    if (call.cancelled) return;
    count += 1;
    tell(call, output, flags);
  }
  if (flags) call.write({ inferResponse: { parameters: { triton_final_response: { boolParam: true } } } });
  call.end();
}

async function answerInPart(
  call: Call,
  outputs: readonly TritonOutput[],
  fault: Extract<Fault, { after: number }>,
  toEach: Spoiling['toEach'],
): Promise<void> {
  for (const output of outputs.slice(0, Math.ceil(outputs.length * fault.after))) tell(call, output, true);
  // Time for what was written to leave before the connection breaks.
  await pause(5);
  if (fault.kind === 'cut') toEach((socket) => socket.resetAndDestroy());
  if (fault.kind === 'half-close') toEach((socket) => socket.end());
}

function tell(call: Call, { name, datatype, shape, raw }: TritonOutput, flags: boolean): void {
  const parameters = flags ? { triton_final_response: { boolParam: false } } : {};
  call.write({ inferResponse: { parameters, outputs: [{ name, datatype, shape }], rawOutputContents: [raw] } });
}

function goWrong(call: Call, fault: TritonFault): void {
  if (fault.kind === 'end') return void call.end();
  if (fault.kind === 'status') {
    call.emit('error', { code: fault.code, details: 'no: private words' });
    return;
  }
  call.write({ errorMessage: '[request id: 1] in ensemble: private words', inferResponse: null });
  call.end();
}

const statusOf: Readonly<Record<number, number>> = {
  401: status.UNAUTHENTICATED,
  404: status.NOT_FOUND,
  422: status.INVALID_ARGUMENT,
  429: status.RESOURCE_EXHAUSTED,
  500: status.INTERNAL,
  503: status.UNAVAILABLE,
};

function refuse(call: Call, fault: Extract<Fault, { kind: 'status' }>): void {
  const metadata = new Metadata();
  const seconds = fault.headers?.['retry-after'];
  if (seconds !== undefined) metadata.set('grpc-retry-pushback-ms', String(Number(seconds) * 1_000));
  const details = `no: ${String(call.metadata.get('authorization')[0])}`;
  call.emit('error', { code: statusOf[fault.status] ?? status.UNKNOWN, details, metadata });
}

/** Wraps a connection so that everything the server sends is cut into pieces. */
function inPieces(socket: Socket, sizes: readonly number[]): Duplex {
  const through = new Duplex({
    read: () => socket.resume(),
    async write(bytes: Buffer, _encoding, done) {
      for (const piece of cut(bytes, sizes)) {
        socket.write(piece);
        await new Promise((resolve) => setImmediate(resolve));
      }
      done();
    },
    final: (done) => socket.end(done),
    destroy(cause, done) {
      socket.destroy();
      done(cause);
    },
  });
  socket.on('data', (bytes) => through.push(bytes));
  socket.once('end', () => through.push(null)).once('close', () => through.destroy());
  return through;
}

function readRequest(body: Record<string, unknown>): TritonRequest {
  const { modelName, id, inputs, rawInputContents } = body as {
    modelName: string;
    id: string;
    inputs: { name: string; datatype: string; shape: number[] }[];
    rawInputContents: Buffer[];
  };
  const byName = Object.fromEntries(
    inputs.map(({ name, datatype, shape }, index) => [
      name,
      { datatype, shape, raw: rawInputContents[index] ?? Buffer.alloc(0) },
    ]),
  );
  return { model: modelName, id, inputs: byName, text: (name) => byName[name]?.raw.toString('utf8', 4) ?? '' };
}

function asSeen(body: Record<string, unknown>): SeenRequest {
  const path = inferRoute.slice('POST '.length);
  const json = (): Record<string, unknown> => body;
  const form = (): Promise<FormData> => Promise.resolve(new FormData());
  const bytes = Buffer.concat((body['rawInputContents'] as Buffer[] | undefined) ?? []);
  return { method: 'POST', path, query: new URLSearchParams(), headers: {}, bytes, json, form };
}
