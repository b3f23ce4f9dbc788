import { setTimeout as wait } from 'node:timers/promises';
import { packageVersion } from '../../server/terminal/version.ts';
import { EvalError } from '../eval-error.ts';
import type { RunFacts } from '../jobs/run-facts.ts';
import { placeOf } from '../jobs/job-flags.ts';
import { JobStore } from '../jobs/store.ts';
import type { AskFigures } from './ask-figures.ts';
import type { OpenedWork, WorkServices } from './open-run.ts';
import { RunAsks } from './run-asks.ts';

/** The worker looks for new runs, and for runs that have ended, this often. */
const lookMs = 250;
/** A run that could not be opened is tried again after this time. */
const againMs = 30_000;

export interface WorkerOptions {
  readonly url: string;
  /** Most asks of a kind at a time; the run's own number if absent. */
  readonly atOnce: number | undefined;
  /** Name of this worker in messages. */
  readonly name: string;
  /** Says what it does. */
  readonly print: (text: string) => void;
  /** Tells a problem. */
  readonly note: (text: string) => void;
  readonly open: (facts: RunFacts, services: Pick<WorkServices, 'turns' | 'signal'>) => Promise<OpenedWork>;
  /** Counts its work. */
  readonly figures?: AskFigures | undefined;
  /** Aborted when it must take no more work and finish its present work. */
  readonly stop: AbortSignal;
  /** Aborted when it must give back its present work. */
  readonly quit: AbortSignal;
}

interface Known {
  /** The run's facts as they were when it was opened: other facts open it again. */
  readonly told: string;
  readonly atMs: number;
  asks?: RunAsks;
}

/** Works on all runs that are announced in a store, until it is stopped. Throws an `EvalError` if none answers. */
export async function work(options: WorkerOptions): Promise<void> {
  const { url, print, note, stop } = options;
  let isAway = false;
  const onFault = (fault: Error): void => {
    // A run that has ended takes its asks with it.
    if (/Missing (?:lock|key) for job|could not renew lock/.test(fault.message)) return;
    if (!isAway) note(`The store at ${placeOf(url)}: ${fault.message}. Trying again.`);
    isAway = true;
  };
  const store = await JobStore.open(url, onFault);
  const known = new Map<string, Known>();
  const kinds = new Set<string>();
  options.figures?.countWaiting(() => waitingBy(store, kinds));
  print(`Waiting for runs at ${placeOf(url)}. Ctrl-C finishes what is under way; twice gives it back at once.`);
  try {
    while (!stop.aborted) {
      const runs = await Promise.race([store.runs(), aborted(stop)]);
      isAway = false;
      await Promise.all(look(runs ?? [], known, { ...options, store, onFault }));
      await wait(lookMs, undefined, { signal: stop }).catch(() => undefined);
    }
  } finally {
    await Promise.all([...known.values()].map(async ({ asks }) => asks?.close()));
    await store.close();
  }
}

/** Asks that wait for a worker, by kind, of all runs that are announced; 0 for `known` kinds of earlier runs. */
async function waitingBy(store: JobStore, known: Set<string>): Promise<ReadonlyMap<string, number>> {
  const counts = new Map([...known].map((kind) => [kind, 0]));
  for (const { id, kinds } of await store.runs())
    for (const kind of Object.keys(kinds)) {
      known.add(kind);
      counts.set(kind, (counts.get(kind) ?? 0) + (await store.waiting(id, kind)));
    }
  return counts;
}

async function aborted(signal: AbortSignal): Promise<undefined> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  return undefined;
}

interface Surroundings extends WorkerOptions {
  readonly store: JobStore;
  readonly onFault: (fault: Error) => void;
}

/** Opens runs that are new, and closes those that have ended or have changed. */
function look(runs: readonly RunFacts[], known: Map<string, Known>, around: Surroundings): Promise<void>[] {
  const { print, name } = around;
  const told = new Map(runs.map((facts) => [facts.id, JSON.stringify(facts)]));
  const closing = [...known].flatMap(([id, { told: then, asks, atMs }]) => {
    const isSame = told.get(id) === then;
    const isRefused = asks === undefined && performance.now() - atMs > againMs;
    if (isSame && !isRefused) return [];
    known.delete(id);
    if (asks !== undefined) print(`run ${id}: ${told.has(id) ? 'has changed' : 'no more work'}`);
    return asks === undefined ? [] : [asks.close()];
  });
  const opening = runs.flatMap((facts) => {
    if (known.has(facts.id)) return [];
    const entry: Known = { told: told.get(facts.id) ?? '', atMs: performance.now() };
    known.set(facts.id, entry);
    const open = async (): Promise<void> => {
      try {
        entry.asks = await openAsks(facts, around);
        print(`run ${facts.id}: working on ${facts.folder}`);
      } catch (fault) {
        const reason = fault instanceof Error ? fault.message : String(fault);
        print(`run ${facts.id}: refused, ${reason}`);
        await around.store.refuse(facts.id, `Worker ${name} does not work on this run: ${reason}`);
      }
    };
    return [open()];
  });
  return [...closing, ...opening];
}

async function openAsks(
  facts: RunFacts,
  { store, open, atOnce, figures, quit, onFault }: Surroundings,
): Promise<RunAsks> {
  const version = packageVersion();
  if (facts.version !== version)
    throw new EvalError('jobs', `it is of Dramatis ${facts.version}, and this is ${version}. Use the same version.`);
  const turns = {
    reserve: (endpoint: string, gapMs: number) => store.reserve(facts.id, endpoint, gapMs),
    rest: (endpoint: string, ms: number) => store.rest(facts.id, endpoint, ms),
  };
  const opened = await open(facts, { turns, signal: quit });
  return new RunAsks({ store, facts, opened, atOnce, figures, signal: quit, onFault });
}
