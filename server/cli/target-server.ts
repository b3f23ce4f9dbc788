import { keyIn } from '../config/api-keys.ts';
import type { Config } from '../config/config.ts';
import { startServer } from '../app/serve.ts';
import { noteLine, tellIfSlow } from '../terminal/text.ts';
import { UsageError } from '../terminal/flags.ts';
import { scriptedNote } from './scripted-note.ts';

/** A server to connect to: one already running, or our own for the duration of the command. */
export interface TargetServer {
  readonly url: string;
  readonly apiKey?: string;
  close(): Promise<void>;
}

/**
 * Uses the server at `url` if given; otherwise starts one in this process on a free loopback port, and says if its
 * replies are scripted.
 */
export async function openTargetServer(url: string | undefined, config: Config): Promise<TargetServer> {
  const [entry] = config.apiKeys;
  const access = entry === undefined ? {} : { apiKey: keyIn(entry).key };
  if (url !== undefined && !/^(http|ws)s?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw new UsageError(`--url: "${url}" is not a URL. Use one such as http://127.0.0.1:8080.`);
  if (url !== undefined) return { url, ...access, close: async () => undefined };
  // Only this process connects to it, so it needs no certificate, and it leaves the data folder to other servers.
  const { tlsCert: _cert, tlsKey: _key, ...plain } = config;
  const own = { tlsDev: false, store: false, memory: false, host: '127.0.0.1', port: 0, logLevel: 'error' } as const;
  const server = await tellIfSlow('Starting a server …', startServer({ ...plain, ...own }));
  const note = scriptedNote(config);
  if (note !== undefined) noteLine(note);
  return { url: server.url, ...access, close: () => server.close() };
}
