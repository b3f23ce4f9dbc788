import { z } from 'zod';
import { EngineError, type CallOptions } from '../engine.ts';
import { addressOf, bearer } from './base-url.ts';
import type { EngineContext } from './context.ts';
import { badReply, readJson } from './http-faults.ts';
import { send, sendForBytes, sendForJson, wavForm } from './http.ts';
import { serverSentEvents } from './sse.ts';

/** One input of an endpoint, as described by the app. */
export interface GradioInput {
  readonly label: string;
  readonly name: string;
  /** Component type such as `Textbox`, `Audio`, `Slider`. */
  readonly component: string;
  readonly byDefault: unknown;
}

/** Inputs of the app's endpoints, in order, by endpoint name without the slash. */
export type GradioEndpoints = ReadonlyMap<string, readonly GradioInput[]>;

/** A file on the server. */
export interface GradioFile {
  readonly path: string;
}

/** A Gradio app over HTTP: version 4, or 5 and later, detected automatically. All methods throw like `send`. */
export interface GradioApp {
  endpoints(options: CallOptions): Promise<GradioEndpoints>;
  upload(bytes: Uint8Array, fileName: string, options: CallOptions): Promise<GradioFile>;
  /** Waits in the app's queue, then for the result. Leaving closes the connection, which cancels the job. */
  call(endpoint: string, data: readonly unknown[], options: CallOptions): Promise<readonly unknown[]>;
  download(file: GradioFile, options: CallOptions): Promise<Buffer>;
}

interface Description {
  readonly prefix: string;
  readonly endpoints: GradioEndpoints;
}

export function openGradioApp(baseUrl: string, context: EngineContext): GradioApp {
  const headers = bearer(context.key);
  const at = (path: string): { readonly url: string; readonly headers: typeof headers } => ({
    url: addressOf(baseUrl, path),
    headers,
  });
  let known: Description | undefined;
  const described = async (options: CallOptions): Promise<Description> => (known ??= await describe(options));

  async function describe(options: CallOptions): Promise<Description> {
    const ask = async (prefix: string): Promise<Description> => {
      const reply = await sendForJson(context, at(`${prefix}/info`), options);
      const endpoints = endpointsOf(reply);
      if (endpoints === undefined) throw badReply(context, 'no description of a Gradio app');
      return { prefix, endpoints };
    };
    return ask('/gradio_api').catch((cause: unknown) => {
      if (cause instanceof EngineError && cause.status === 404) return ask('');
      throw cause;
    });
  }

  return {
    endpoints: async (options) => (await described(options)).endpoints,
    async upload(bytes, fileName, options) {
      const { prefix } = await described(options);
      const form = wavForm({}, 'files', bytes, fileName);
      const reply = await sendForJson(context, { ...at(`${prefix}/upload`), form }, options);
      const path: unknown = Array.isArray(reply) ? reply[0] : undefined;
      if (typeof path !== 'string') throw badReply(context, 'no path of the uploaded clip');
      return { path };
    },
    async call(endpoint, data, options) {
      const { prefix } = await described(options);
      const path = `${prefix}/call/${encodeURIComponent(endpoint)}`;
      const begun = await sendForJson(context, { ...at(path), json: { data } }, options);
      const { event_id: id } = (begun ?? {}) as Record<string, unknown>;
      if (typeof id !== 'string') throw badReply(context, 'no event id for the queued call');
      const { body } = await send(context, at(`${path}/${encodeURIComponent(id)}`), options);
      return resultOf(body, context);
    },
    async download({ path }, options) {
      const { prefix } = await described(options);
      // The URL that the app returns along with the path may be reachable only from its own host, or point anywhere.
      return sendForBytes(
        context,
        at(`${prefix}/file=${encodeURI(path).replaceAll('?', '%3F').replaceAll('#', '%23')}`),
        options,
      );
    },
  };
}

/** Ignores `heartbeat` and `generating` events. */
async function resultOf(body: AsyncIterable<Buffer>, context: EngineContext): Promise<readonly unknown[]> {
  for await (const { event, data } of serverSentEvents(body)) {
    if (event === 'error') {
      const detail = 'the app reported an error. Check its log, or start it with show_error=True to see the error here';
      throw new EngineError(context.name, 'ENGINE_UNAVAILABLE', detail);
    }
    if (event !== 'complete') continue;
    return readJson(data, z.array(z.unknown()), context, 'a result that is not a list');
  }
  throw badReply(context, 'a stream without a result');
}

/** Returns the first file of a result. */
export function fileOf(result: readonly unknown[]): GradioFile | undefined {
  for (const value of result) {
    const { path } = (value ?? {}) as Record<string, unknown>;
    if (typeof path === 'string' && path !== '') return { path };
  }
  return undefined;
}

function endpointsOf(reply: unknown): GradioEndpoints | undefined {
  const { named_endpoints: named } = (reply ?? {}) as Record<string, unknown>;
  if (typeof named !== 'object' || named === null) return undefined;
  return new Map(
    Object.entries(named).map(([name, described]) => {
      const { parameters } = (described ?? {}) as Record<string, unknown>;
      return [name.replace(/^\//, ''), (Array.isArray(parameters) ? parameters : []).map(inputOf)];
    }),
  );
}

function inputOf(parameter: unknown): GradioInput {
  const { label, parameter_name, component, parameter_default } = (parameter ?? {}) as Record<string, unknown>;
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  return {
    label: text(label),
    name: text(parameter_name),
    component: text(component),
    byDefault: parameter_default ?? null,
  };
}
