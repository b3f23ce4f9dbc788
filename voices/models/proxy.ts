import { DownloadFault } from './download-fault.ts';
import { ModelError } from './model-error.ts';

/**
 * The proxy that an environment names for an address, whether or not `NO_PROXY` exempts it. Throws `model_proxy_failed` for one
 * that Node's agents would pass over in silence.
 */
export function proxyOf(url: string, environment: NodeJS.ProcessEnv): URL | undefined {
  const name = url.startsWith('https:') ? 'https_proxy' : 'http_proxy';
  const place = environment[name] || environment[name.toUpperCase()];
  if (place === undefined || place === '') return undefined;
  if (URL.canParse(place) && /^https?:\/\//.test(place)) return new URL(place);
  const why = `${name.toUpperCase()} is no address of a proxy such as http://proxy.example:3128; others, SOCKS too, are not known.`;
  throw new ModelError('model_proxy_failed', why);
}

/** What a proxy that answers instead of the server means; undefined where the status is none of a proxy's. */
export function faultOfProxyStatus(status: number, proxy: URL | undefined): ModelError | undefined {
  if (status !== 407 || proxy === undefined) return undefined;
  return refusal(proxy, 'wants a name and a password: http://NAME:PASSWORD@HOST:PORT');
}

/** The same of what was thrown while connecting; undefined where that was not about the proxy. */
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

/** What Node's errors tell: of the tunnel, of the connection, of the name. */
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
