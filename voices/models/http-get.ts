import { Agent as HttpAgent, get as httpGet, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, get as httpsGet } from 'node:https';
import { ModelError } from './model-error.ts';
import { faultOfProxy, faultOfProxyStatus, proxyOf } from './proxy.ts';

/** A response whose body has not been read yet. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: AsyncIterable<Buffer>;
  /** Closes the connection. */
  end(): void;
}

/** HTTP client with keep-alive connections; honours `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`. */
export interface HttpClient {
  /** Follows redirects. Rejects if the connection fails, or with `model_download_failed` on a redirect loop. */
  get(url: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<HttpAnswer>;
  close(): void;
}

const mostRedirects = 8;

/** Opens a client that gives up on a server that is silent for `stallMs`. */
export function openHttpClient(stallMs: number): HttpClient {
  const options = { keepAlive: true, proxyEnv: process.env, timeout: stallMs };
  // One agent per protocol, because releases redirect to other hosts. Created lazily, because Node throws on an invalid
  // proxy setting.
  const agents: { http?: HttpAgent; https?: HttpsAgent } = {};

  function once(url: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<IncomingMessage> {
    const proxy = proxyOf(url, process.env);
    const isSecure = url.startsWith('https:');
    const agent = isSecure ? (agents.https ??= new HttpsAgent(options)) : (agents.http ??= new HttpAgent(options));
    return new Promise((resolve, reject) => {
      // This timeout also covers the connection through a proxy; the socket's own does not.
      const request = (isSecure ? httpsGet : httpGet)(url, { headers, agent, signal, timeout: stallMs }, (answer) => {
        signal.removeEventListener('abort', stop);
        const fault = faultOfProxyStatus(answer.statusCode ?? 0, proxy);
        if (fault === undefined) return resolve(answer);
        answer.destroy();
        reject(fault);
      });
      // Node does not act on the abort before a proxy has established its connection.
      const stop = (): void => reject(signal.reason);
      signal.addEventListener('abort', stop, { once: true });
      request.on('timeout', () => request.destroy(new Error(`nothing came for ${stallMs / 1000} s`)));
      request.on('error', (thrown) => {
        signal.removeEventListener('abort', stop);
        reject(faultOfProxy(thrown, proxy) ?? thrown);
      });
    });
  }

  return {
    async get(url, headers, signal) {
      const seen = new Set<string>();
      for (let place = url; ;) {
        if (seen.has(place) || seen.size > mostRedirects) {
          throw new ModelError('model_download_failed', `${url} redirects in a circle, or too often.`);
        }
        seen.add(place);
        const answer = await once(place, { 'accept-encoding': 'identity', ...headers }, signal);
        const { statusCode: status = 0 } = answer;
        const { location } = answer.headers;
        if (status < 300 || status > 399 || status === 304 || location === undefined) {
          return { status, headers: answer.headers, body: answer, end: () => void answer.destroy() };
        }
        answer.destroy();
        const next = URL.canParse(location, place) ? new URL(location, place) : undefined;
        const isSafe = next?.protocol === 'https:' || (next?.protocol === 'http:' && place.startsWith('http:'));
        if (!isSafe)
          throw new ModelError('model_download_failed', `${url} redirects to where no file is fetched from.`);
        place = next.href;
      }
    },
    close() {
      agents.http?.destroy();
      agents.https?.destroy();
    },
  };
}
