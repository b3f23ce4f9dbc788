import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { UsageError } from '../../server/terminal/flags.ts';

/** Outcome of an ask at a worker: answered, failed (which is a result, too), or left to other workers. */
export type AskOutcome = 'ok' | 'failed' | 'given_back';

/** Figures of one worker, for Prometheus. Labels have few values: kinds of asks and outcomes, never a run or a text. */
export interface AskFigures {
  /** Counts an ask and its duration. `isRepeated`: a worker that died had begun it before. */
  note(kind: string, outcome: AskOutcome, seconds: number, isRepeated: boolean): void;
  /** Adds to the cost of model calls, in US dollars. */
  spend(dollars: number): void;
  /** Sets the source of the number of asks that wait for a worker, by kind, of all runs together. */
  countWaiting(waiting: () => Promise<ReadonlyMap<string, number>>): void;
  /** Returns the figures in Prometheus' text format. */
  text(): Promise<string>;
}

/** Upper bounds in seconds: a call of a model, up to an evaluation of a recording. */
const buckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 60, 120, 300];

export function openAskFigures(): AskFigures {
  const registry = new Registry();
  const registers = [registry];
  const asks = new Counter({
    name: 'dramatis_asks_total',
    help: 'Asks that this worker took, by kind and outcome: ok, failed, or given_back.',
    labelNames: ['kind', 'outcome'],
    registers,
  });
  const askSeconds = new Histogram({
    name: 'dramatis_ask_seconds',
    help: 'Duration of answered and failed asks.',
    labelNames: ['kind'],
    buckets,
    registers,
  });
  const repeated = new Counter({
    name: 'dramatis_asks_repeated_total',
    help: 'Asks that a worker had begun before, and that died of it or with it: their calls may have been made twice.',
    registers,
  });
  const spent = new Counter({
    name: 'dramatis_spend_dollars_total',
    help: 'Cost of the model calls of this worker, in US dollars, as far as their prices are known.',
    registers,
  });
  let waiting: () => Promise<ReadonlyMap<string, number>> = async () => new Map();
  const waits: Gauge = new Gauge({
    name: 'dramatis_asks_waiting',
    help: 'Asks that wait for a worker, by kind, of all runs together: every worker reports the same.',
    labelNames: ['kind'],
    registers,
    async collect(): Promise<void> {
      waits.reset();
      for (const [kind, count] of await waiting()) waits.set({ kind }, count);
    },
  });
  return {
    note(kind, outcome, seconds, isRepeated) {
      asks.inc({ kind, outcome });
      if (outcome !== 'given_back') askSeconds.observe({ kind }, seconds);
      if (isRepeated) repeated.inc();
    },
    spend: (dollars) => spent.inc(dollars),
    countWaiting: (source) => void (waiting = source),
    text: () => registry.metrics(),
  };
}

/** Reads `[HOST:]PORT`. The host is this machine's loopback address unless given. Throws a `UsageError`. */
export function metricsAddress(text: string): { readonly host: string; readonly port: number } {
  const [, host, port = ''] = /^(?:(.+):)?(\d{1,5})$/.exec(text) ?? [];
  if (port === '' || Number(port) > 65_535)
    throw new UsageError('--metrics must be PORT or HOST:PORT, for example 9464 or 0.0.0.0:9464.');
  return { host: host?.replace(/^\[(.*)\]$/, '$1') ?? '127.0.0.1', port: Number(port) };
}

/**
 * Serves the figures at `/metrics`, without a key: they hold no content. The caller closes the server. Throws a
 * `UsageError` if the address cannot be opened.
 */
export async function serveFigures(
  figures: AskFigures,
  address: { readonly host: string; readonly port: number },
): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') return void response.writeHead(404).end();
    figures.text().then(
      (text) => response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }).end(text),
      () => response.writeHead(503).end(),
    );
  });
  server.listen(address);
  try {
    await once(server, 'listening');
  } catch (cause) {
    throw new UsageError(`--metrics: ${address.host}:${address.port} cannot be opened (${String(cause)}).`);
  }
  return server;
}
