import { randomUUID } from 'node:crypto';
import path from 'node:path';
import {
  Client,
  connectivityState,
  credentials,
  Metadata,
  type ClientDuplexStream,
  type MethodDefinition,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { EngineError, type CallOptions } from '../../engine.ts';
import { Queue } from '../../runtime/streams.ts';
import type { EngineContext } from '../context.ts';
import { badReply, brokenOff } from '../http-faults.ts';
import { grpcFault, type CallStage } from './triton-faults.ts';
import { wireInputs, type InputTensor, type WireAnswer } from './triton-tensors.ts';

/** A Triton server, or another with the open inference protocol over gRPC. Throws `EngineError` or `signal.reason`. */
export interface TritonServer {
  /** Makes one request; yields each response as it comes. Leaving or aborting cancels it on the server. */
  infer(
    inputs: readonly InputTensor[],
    output: string,
    options: CallOptions,
  ): AsyncGenerator<WireAnswer, void, undefined>;
  /** Names of the model's inputs. */
  inputNames(options: CallOptions): Promise<readonly string[]>;
  /** True if the model is loaded. */
  isReady(options: CallOptions): Promise<boolean>;
  close(): void;
}

/** Checks that the model exists and is loaded. */
export async function checkTriton(
  server: TritonServer,
  { baseUrl, model }: { readonly baseUrl: string; readonly model: string },
  { name, settingNames }: EngineContext,
  options: CallOptions,
): Promise<string> {
  if (await server.isReady(options)) return `${new URL(baseUrl).host} has ${model}`;
  const detail = `the server has no model "${model}", or has not loaded it yet. Check ${settingNames.model}, and the server's log.`;
  throw new EngineError(name, 'ENGINE_UNAVAILABLE', detail);
}

interface StreamAnswer {
  readonly errorMessage: string;
  readonly inferResponse:
    | (WireAnswer & { readonly parameters: Readonly<Record<string, { readonly boolParam?: boolean }>> })
    | null;
}

const file = path.join(import.meta.dirname, 'triton.proto');
const mostBytes = 64 * 2 ** 20;
const goodbyeMs = 1_000;
/** Set by Triton on each response if the request asks for it. */
const finalFlag = 'triton_final_response';

/** Loads the protocol definition from `triton.proto`. */
export function tritonService(): Readonly<Record<string, MethodDefinition<object, unknown>>> {
  const service = loadSync(file, { longs: Number, defaults: true, arrays: true, objects: true })[
    'inference.GRPCInferenceService'
  ];
  return service as unknown as Readonly<Record<string, MethodDefinition<object, unknown>>>;
}

/** Opens a client for one model of a server. Connects with the first call, and again after a failure. */
export function openTriton(
  { baseUrl, model }: { readonly baseUrl: string; readonly model: string },
  context: EngineContext,
): TritonServer {
  return new Server(new URL(baseUrl), model, context);
}

class Server implements TritonServer {
  readonly #url: URL;
  readonly #model: string;
  readonly #context: EngineContext;
  readonly #service = tritonService();
  #client: Client | undefined;

  constructor(url: URL, model: string, context: EngineContext) {
    this.#url = url;
    this.#model = model;
    this.#context = context;
  }

  async *infer(inputs: readonly InputTensor[], output: string, { signal }: CallOptions): AsyncGenerator<WireAnswer> {
    const client = await this.#connected(signal);
    const { path: route, requestSerialize, responseDeserialize } = this.#method('ModelStreamInfer');
    const call = client.makeBidiStreamRequest(route, requestSerialize, responseDeserialize, this.#metadata());
    const exchange = new Exchange(call as ClientDuplexStream<object, StreamAnswer>, this.#context, signal);
    try {
      call.write({
        modelName: this.#model,
        // Streaming models keep state by request id: without one they mix requests up.
        id: randomUUID(),
        parameters: { triton_enable_empty_final_response: { boolParam: true } },
        outputs: [{ name: output }],
        ...wireInputs(inputs),
      });
      call.end();
      yield* exchange.answers();
    } catch (cause) {
      if (!signal.aborted) this.#forget(client, cause);
      throw cause;
    } finally {
      exchange.close();
    }
  }

  async inputNames(options: CallOptions): Promise<readonly string[]> {
    const answer = await this.#ask('ModelMetadata', options);
    const { inputs = [] } = answer as { readonly inputs?: readonly { readonly name: string }[] };
    return inputs.map(({ name }) => name);
  }

  async isReady(options: CallOptions): Promise<boolean> {
    return ((await this.#ask('ModelReady', options)) as { readonly ready?: boolean }).ready === true;
  }

  close(): void {
    this.#client?.close();
    this.#client = undefined;
  }

  #method(name: string): MethodDefinition<object, unknown> {
    return this.#service[name] as MethodDefinition<object, unknown>;
  }

  #metadata(): Metadata {
    const metadata = new Metadata();
    if (this.#context.key !== undefined) metadata.set('authorization', `Bearer ${this.#context.key}`);
    // Otherwise Triton reports errors as text without a code.
    metadata.set('triton_grpc_error', 'true');
    return metadata;
  }

  async #ask(name: string, { signal }: CallOptions): Promise<unknown> {
    const client = await this.#connected(signal);
    const { path: route, requestSerialize, responseDeserialize } = this.#method(name);
    const deadline = Date.now() + this.#context.timeouts.firstByteMs;
    const body = { name: this.#model };
    try {
      return await new Promise<unknown>((resolve, reject) => {
        const call = client.makeUnaryRequest(
          route,
          requestSerialize,
          responseDeserialize,
          body,
          this.#metadata(),
          { deadline },
          (fault, answer) => (fault === null ? resolve(answer) : reject(fault)),
        );
        signal.addEventListener('abort', () => call.cancel(), { once: true });
      });
    } catch (cause) {
      signal.throwIfAborted();
      const fault = grpcFault(this.#context, cause, 'asked');
      this.#forget(client, fault);
      throw fault;
    }
  }

  /** Returns the client once it is connected; throws the failure otherwise. */
  async #connected(signal: AbortSignal): Promise<Client> {
    signal.throwIfAborted();
    const client = (this.#client ??= this.#open());
    const channel = client.getChannel();
    const { connectMs } = this.#context.timeouts;
    const deadline = Date.now() + connectMs;
    for (;;) {
      const state = channel.getConnectivityState(true);
      if (state === connectivityState.READY) return client;
      if (state === connectivityState.TRANSIENT_FAILURE || state === connectivityState.SHUTDOWN) {
        const fault = grpcFault(this.#context, { code: 14 }, 'connecting');
        this.#forget(client, fault);
        throw fault;
      }
      const inTime = await changed(channel, state, { deadline, signal });
      if (inTime) continue;
      const detail = `no connection within ${connectMs / 1_000} s. Is the server overloaded, or still loading its model?`;
      const fault = new EngineError(this.#context.name, 'ENGINE_TIMEOUT', detail);
      this.#forget(client, fault);
      throw fault;
    }
  }

  #open(): Client {
    const { protocol, hostname, port } = this.#url;
    const secure = protocol === 'https:' || protocol === 'wss:';
    const address = `${hostname}:${port === '' ? (secure ? '443' : '80') : port}`;
    return new Client(address, secure ? credentials.createSsl() : credentials.createInsecure(), {
      'grpc.max_receive_message_length': mostBytes,
      'grpc.max_send_message_length': mostBytes,
      // Retries are done here, and a failed connection is not shared with the next client.
      'grpc.enable_retries': 0,
      'grpc.use_local_subchannel_pool': 1,
      'grpc.enable_http_proxy': 0,
    });
  }

  /** Drops the client after a connection failure: the next call connects at once, while gRPC would back off. */
  #forget(client: Client, cause: unknown): void {
    const isOurs = cause instanceof EngineError && cause.code === 'ENGINE_REFUSED';
    if (isOurs || this.#client !== client) return;
    this.#client = undefined;
    // Other calls on it run to their end.
    client.close();
  }
}

/** Resolves to whether the channel's state changes before the deadline. Aborting throws. */
function changed(
  channel: ReturnType<Client['getChannel']>,
  state: connectivityState,
  { deadline, signal }: { readonly deadline: number; readonly signal: AbortSignal },
): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    channel.watchConnectivityState(state, deadline, (late) => {
      signal.removeEventListener('abort', onAbort);
      resolve(late === undefined);
    });
  });
}

/** One streaming call in progress. */
class Exchange {
  readonly #call: ClientDuplexStream<object, StreamAnswer>;
  readonly #context: EngineContext;
  readonly #signal: AbortSignal;
  readonly #answers = new Queue<StreamAnswer>();
  #stage: CallStage = 'asked';
  #isOver = false;
  readonly #onAbort = (): void => {
    this.#answers.fail(this.#signal.reason);
    this.#call.cancel();
  };

  constructor(call: ClientDuplexStream<object, StreamAnswer>, context: EngineContext, signal: AbortSignal) {
    this.#call = call;
    this.#context = context;
    this.#signal = signal;
    signal.addEventListener('abort', this.#onAbort, { once: true });
    call.on('metadata', () => (this.#stage = 'answering'));
    call.on('data', (answer: StreamAnswer) => this.#answers.push(answer));
    call.on('error', (cause) => this.#answers.fail(grpcFault(context, cause, this.#stage)));
    call.on('end', () => this.#answers.end());
  }

  async *answers(): AsyncGenerator<WireAnswer> {
    const { firstByteMs, betweenBytesMs } = this.#context.timeouts;
    const incoming = this.#answers[Symbol.asyncIterator]();
    let isFlagged = false;
    for (let limitMs = firstByteMs; ; limitMs = betweenBytesMs) {
      const next = await this.#within(limitMs, () => incoming.next());
      if (next.done === true) break;
      const { errorMessage, inferResponse } = next.value;
      if (errorMessage !== '') {
        const detail = `the model failed. Check ${this.#context.settingNames.model}, "dialect" and the server's log.`;
        throw new EngineError(this.#context.name, 'ENGINE_UNAVAILABLE', detail);
      }
      if (inferResponse === null) throw badReply(this.#context, 'an empty response');
      const isFinal = inferResponse.parameters[finalFlag]?.boolParam;
      isFlagged ||= isFinal !== undefined;
      if (isFinal === true) this.#isOver = true;
      if (inferResponse.outputs.length > 0) yield inferResponse;
      if (isFinal === true) return;
    }
    this.#isOver = true;
    if (isFlagged) throw brokenOff(this.#context);
  }

  /** Cancels a running call; a server that has sent everything ends the call by itself. */
  close(): void {
    this.#signal.removeEventListener('abort', this.#onAbort);
    if (!this.#isOver || this.#signal.aborted) this.#call.cancel();
    else setTimeout(() => this.#call.cancel(), goodbyeMs).unref();
  }

  async #within<Value>(limitMs: number, wait: () => Promise<Value>): Promise<Value> {
    const detail = `no response within ${limitMs / 1_000} s. Is the server overloaded, or still loading its model?`;
    const timer = setTimeout(
      () => this.#answers.fail(new EngineError(this.#context.name, 'ENGINE_TIMEOUT', detail)),
      limitMs,
    );
    try {
      return await wait();
    } finally {
      clearTimeout(timer);
    }
  }
}
