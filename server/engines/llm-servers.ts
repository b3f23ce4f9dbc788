import { BlockList, isIP } from 'node:net';
import { addressOf, bearer } from '../../voices/calls/base-url.ts';
import { EngineError } from '../../voices/engine.ts';
import { isLoopback, withoutBrackets } from '../config/loopback.ts';

/** LLM programs by the port that each listens on by default. */
const usualServers = [
  { name: 'Ollama', port: 11434 },
  { name: 'LM Studio', port: 1234 },
  { name: 'llama.cpp', port: 8080 },
  { name: 'vLLM', port: 8000 },
] as const;

const searchTimeoutMs = 500;
const listTimeoutMs = 3_000;
const maxListBytes = 1_000_000;
const maxModels = 500;

/** An LLM server of this machine that answers. */
export interface FoundServer {
  readonly name: string;
  readonly url: string;
  readonly models: readonly string[];
}

/** Private networks. Link-local addresses are not among them: cloud machines serve their credentials there. */
const privateNetworks = new BlockList();
privateNetworks.addSubnet('10.0.0.0', 8);
privateNetworks.addSubnet('172.16.0.0', 12);
privateNetworks.addSubnet('192.168.0.0', 16);
privateNetworks.addSubnet('fc00::', 7, 'ipv6');

/**
 * Returns whether the page may make the server call a URL: only this machine and private networks, by their address. A
 * name other than `localhost` is refused, because it could resolve to another address at each call.
 */
export function isPrivateUrl(url: string): boolean {
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol) || parsed.username !== '' || parsed.password !== '')
    return false;
  const host = withoutBrackets(parsed.hostname);
  const version = isIP(host);
  return isLoopback(host) || (version !== 0 && privateNetworks.check(host, version === 4 ? 'ipv4' : 'ipv6'));
}

/**
 * Asks the usual ports of this machine for LLM servers, all at once. Another Dramatis, which also lists models, is left
 * out.
 */
export async function findLlmServers(
  signal: AbortSignal,
  servers: readonly { readonly name: string; readonly port: number }[] = usualServers,
): Promise<FoundServer[]> {
  const asked = servers.map(async ({ name, port }) => {
    const url = `http://127.0.0.1:${port}/v1`;
    const limited = AbortSignal.any([signal, AbortSignal.timeout(searchTimeoutMs)]);
    const models = await fetchModels(url, undefined, limited).catch(() => undefined);
    signal.throwIfAborted();
    return models === undefined ? [] : [{ name, url, models: models.map(({ id }) => id) }];
  });
  return (await Promise.all(asked)).flat();
}

/** Lists the models of a server. Throws an `EngineError` that says what to do. */
export async function listLlmModels(url: string, key: string | undefined, signal: AbortSignal): Promise<string[]> {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(listTimeoutMs)]);
  try {
    return (await fetchModels(url, key, limited)).map(({ id }) => id);
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof EngineError) throw cause;
    const code = limited.aborted ? 'ENGINE_TIMEOUT' : 'ENGINE_UNAVAILABLE';
    throw new EngineError('LLM', code, 'no LLM server answers there. Check the URL, and that the server runs', cause);
  }
}

/** A redirect is refused: it could lead to an address that the caller may not ask for. */
async function fetchModels(url: string, key: string | undefined, signal: AbortSignal): Promise<{ id: string }[]> {
  const response = await fetch(addressOf(url, '/models'), { headers: bearer(key), redirect: 'error', signal });
  if (response.status === 401 || response.status === 403)
    throw new EngineError('LLM', 'ENGINE_REFUSED', 'the server refuses the key', undefined, {
      status: response.status,
    });
  const listed = response.ok ? modelsIn(await readLimited(response)) : undefined;
  if (listed !== undefined) return listed;
  throw new EngineError('LLM', 'ENGINE_BAD_REPLY', 'the server does not list models. Check that the URL ends in /v1');
}

async function readLimited(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const piece of response.body ?? []) {
    bytes += piece.byteLength;
    if (bytes > maxListBytes) return '';
    text += decoder.decode(piece, { stream: true });
  }
  return text;
}

function modelsIn(text: string): { id: string }[] | undefined {
  let reply: unknown;
  try {
    reply = JSON.parse(text);
  } catch {
    return undefined;
  }
  const data = typeof reply === 'object' && reply !== null && 'data' in reply ? reply.data : undefined;
  if (!Array.isArray(data)) return undefined;
  const entries = data.slice(0, maxModels) as readonly { readonly id?: unknown; readonly owned_by?: unknown }[];
  if (entries.some((entry) => entry?.owned_by === 'dramatis')) return undefined;
  return entries.flatMap((entry) => (typeof entry?.id === 'string' ? [{ id: entry.id.slice(0, 200) }] : []));
}
