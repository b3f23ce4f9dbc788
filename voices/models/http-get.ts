import { Agent as HttpAgent, get as httpGet, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, get as httpsGet } from 'node:https';
import { ModelError } from './model-error.ts';
import { faultOfProxy, faultOfProxyStatus, proxyOf } from './proxy.ts';

/** An answer whose body is yet to be read. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: AsyncIterable<Buffer>;
  /** Hangs up. */
  end(): void;
}

/** Gets addresses over connections that it keeps; `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` count. */
export interface HttpClient {
  /** Follows redirects. Rejects when the connection fails, and with `model_download_failed` where redirects never end. */
  get(url: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<HttpAnswer>;
  close(): void;
}

const mostRedirects = 8;

/** Opens a client that gives up on a server that says nothing for `stallMs`. */
export function openHttpClient(stallMs: number): HttpClient {
  const options = { keepAlive: true, proxyEnv: process.env, timeout: stallMs };
  // Releases redirect to other hosts: each agent speaks one protocol. Made when needed, since a proxy that is none lets none be made.
  const agents: { http?: HttpAgent; https?: HttpsAgent } = {};

  function once(url: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<IncomingMessage> {
    const proxy = proxyOf(url, process.env);
    const isSecure = url.startsWith('https:');
    const agent = isSecure ? (agents.https ??= new HttpsAgent(options)) : (agents.http ??= new HttpAgent(options));
    return new Promise((resolve, reject) => {
      // The time counts for the way through a proxy, too, which the socket's own does not.
      const request = (isSecure ? httpsGet : httpGet)(url, { headers, agent, signal, timeout: stallMs }, (answer) => {
        signal.removeEventListener('abort', stop);
        const fault = faultOfProxyStatus(answer.statusCode ?? 0, proxy);
        if (fault === undefined) return resolve(answer);
        answer.destroy();
        reject(fault);
      });
      // Node hears of nothing before a proxy has made its connection.
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
