import { Agent as HttpAgent, get as httpGet, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, get as httpsGet } from 'node:https';
import { ModelError } from './model-error.ts';
import { DownloadFault } from './download-fault.ts';

/** A response whose body has not been read yet. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
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
      request.on('timeout', () => request.destroy(new Error(`no data for ${stallMs / 1000} s`)));
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
          throw new ModelError('model_download_failed', `${url} redirects in a loop, or too often.`);
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
          throw new ModelError('model_download_failed', `${url} redirects to an address that is not allowed.`);
        place = next.href;
      }
    },
    close() {
      agents.http?.destroy();
      agents.https?.destroy();
    },
  };
}

/** Proxy of the environment, ignoring `NO_PROXY`; throws `model_proxy_failed` for one that Node's agents would skip. */
function proxyOf(url: string, environment: NodeJS.ProcessEnv): URL | undefined {
  const name = url.startsWith('https:') ? 'https_proxy' : 'http_proxy';
  const place = environment[name] || environment[name.toUpperCase()];
  if (place === undefined || place === '') return undefined;
  if (URL.canParse(place) && /^https?:\/\//.test(place)) return new URL(place);
  const why = `${name.toUpperCase()} is not an HTTP proxy address such as http://proxy.example:3128. SOCKS proxies are not supported.`;
  throw new ModelError('model_proxy_failed', why);
}

/** Error for a response from the proxy itself; undefined if the status does not come from a proxy. */
function faultOfProxyStatus(status: number, proxy: URL | undefined): ModelError | undefined {
  if (status !== 407 || proxy === undefined) return undefined;
  return refusal(proxy, 'requires a user name and a password: http://NAME:PASSWORD@HOST:PORT');
}

/** Error for a failure while connecting through the proxy; undefined if it does not concern the proxy. */
function faultOfProxy(thrown: unknown, proxy: URL | undefined): ModelError | DownloadFault | undefined {
  if (proxy === undefined || !(thrown instanceof Error)) return undefined;
  const { code, statusCode: status, ...about } = thrown as ProxyFailure;
  if (code === 'ERR_PROXY_TUNNEL') {
    if (status !== undefined && status < 500) {
      return faultOfProxyStatus(status, proxy) ?? refusal(proxy, `refused the connection (${status})`);
    }
    const silentMs = about.proxyTunnelTimeout;
    const hangsUp = silentMs === undefined ? 'closed the connection' : `did not respond for ${silentMs / 1000} s`;
    const why = status === undefined ? hangsUp : `cannot reach the server (${status})`;
    return new DownloadFault('proxy', `the proxy ${proxy.host} ${why}`, undefined, thrown);
  }
  const isItsOwn = about.hostname === proxy.hostname || about.port === portOf(proxy);
  return isItsOwn
    ? new DownloadFault('proxy', `the proxy ${proxy.host} cannot be reached (${code})`, undefined, thrown)
    : undefined;
}

/** Fields of Node's errors about the tunnel, the connection and name resolution. */
interface ProxyFailure extends Error {
  readonly code?: string;
  readonly statusCode?: number;
  readonly proxyTunnelTimeout?: number;
  readonly port?: number;
  readonly hostname?: string;
}

function refusal(proxy: URL, why: string): ModelError {
  return new ModelError('model_proxy_failed', `the proxy ${proxy.host} ${why}`);
}

function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}
