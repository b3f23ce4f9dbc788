import { DownloadFault } from './download-fault.ts';
import { ModelError } from './model-error.ts';

/**
 * The proxy that the environment configures for an address, ignoring `NO_PROXY`. Throws `model_proxy_failed` for a
 * setting that Node's agents would silently skip.
 */
export function proxyOf(url: string, environment: NodeJS.ProcessEnv): URL | undefined {
  const name = url.startsWith('https:') ? 'https_proxy' : 'http_proxy';
  const place = environment[name] || environment[name.toUpperCase()];
  if (place === undefined || place === '') return undefined;
  if (URL.canParse(place) && /^https?:\/\//.test(place)) return new URL(place);
  const why = `${name.toUpperCase()} is no address of a proxy such as http://proxy.example:3128; others, SOCKS too, are not known.`;
  throw new ModelError('model_proxy_failed', why);
}

/** Error for a response from the proxy itself; undefined if the status does not come from a proxy. */
export function faultOfProxyStatus(status: number, proxy: URL | undefined): ModelError | undefined {
  if (status !== 407 || proxy === undefined) return undefined;
  return refusal(proxy, 'wants a name and a password: http://NAME:PASSWORD@HOST:PORT');
}

/** Error for a failure while connecting through the proxy; undefined if it does not concern the proxy. */
export function faultOfProxy(thrown: unknown, proxy: URL | undefined): ModelError | DownloadFault | undefined {
  if (proxy === undefined || !(thrown instanceof Error)) return undefined;
  const { code, statusCode: status, ...about } = thrown as ProxyFailure;
  if (code === 'ERR_PROXY_TUNNEL') {
    if (status !== undefined && status < 500) {
      return faultOfProxyStatus(status, proxy) ?? refusal(proxy, `refuses the connection (${status})`);
    }
    const silentMs = about.proxyTunnelTimeout;
    const hangsUp = silentMs === undefined ? 'hangs up' : `says nothing for ${silentMs / 1000} s`;
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
