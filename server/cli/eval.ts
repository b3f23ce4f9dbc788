import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runEval } from '../../eval/cli/eval.ts';
import type { EvalHost } from '../../eval/host.ts';
import { keyIn } from '../config/api-keys.ts';
import { readConfig } from '../config/config.ts';
import { interruptSignal } from '../terminal/interrupt.ts';
import { jobsHost } from './jobs-host.ts';
import { withReferences } from './with-references.ts';
import { noteLine, printable, printLine } from '../terminal/text.ts';

/** `dramatis eval …`: gives the harness a terminal, and starts our own servers for it to measure. */
export function run(args: string[]): Promise<number> {
  return runEval(args, evalHost(interruptSignal()));
}

/** The terminal, and servers to measure. */
export function evalHost(signal: AbortSignal): EvalHost {
  return {
    startServer: startMeasured,
    signal,
    environment: process.env,
    print: (text) => printLine(text),
    note: noteLine,
    write: (text) => void process.stdout.write(printable(text)),
    progress: process.stderr,
    jobs: jobsHost,
  };
}

/** Starts a server on a free loopback port, with the roles as characters and their clips as voice references. */
async function startMeasured(options: Parameters<EvalHost['startServer']>[0]): ReturnType<EvalHost['startServer']> {
  const { settings, charactersDir, references, sessions, audioRate } = options;
  // Imported lazily: most commands start no server.
  const { startServer } = await import('../app/serve.ts');
  const config = readConfig({ flags: settings, environment: process.env });
  const { tlsCert: _cert, tlsKey: _key, ...plain } = config;
  const folder = await mkdtemp(path.join(tmpdir(), 'dramatis-eval-'));
  try {
    const server = await startServer({
      ...plain,
      ...(await withReferences(folder, config, references)),
      charactersDir,
      tlsDev: false,
      store: false,
      memory: false,
      host: '127.0.0.1',
      port: 0,
      logLevel: 'error',
      maxSessions: Math.max(sessions, config.maxSessions),
      maxSessionsPerKey: Math.max(sessions, config.maxSessions),
      maxSessionsPerAddress: Math.max(sessions, config.maxSessionsPerAddress),
      maxHandshakesPerMinute: 100_000,
      maxAudioRate: Math.min(100, Math.max(audioRate, config.maxAudioRate)),
    });
    const { summary } = server.engines;
    const [entry] = config.apiKeys;
    return {
      url: server.url,
      ...(entry === undefined ? {} : { apiKey: keyIn(entry).key }),
      // A benchmark role has a prompt but no example lines to retrieve.
      hasModel:
        summary.some(({ stage }) => stage === 'omni') ||
        !summary.some(({ stage, name }) => stage === 'mind' && name === 'retrieval'),
      close: () => server.close(),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
