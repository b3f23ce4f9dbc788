import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { EvalHost } from '../../../eval/host.ts';
import { openWork } from '../../../eval/worker/open-run.ts';
import { work } from '../../../eval/worker/worker.ts';

const main = path.resolve(import.meta.dirname, '../../../server/main.ts');

const host: EvalHost = {
  startServer: () => Promise.reject(new Error('no server here')),
  signal: new AbortController().signal,
  environment: {},
  print: () => undefined,
  note: () => undefined,
  write: () => undefined,
  progress: { write: () => true },
};

/** A worker in this process. */
export interface NearWorker extends AsyncDisposable {
  readonly said: readonly string[];
  /** Finishes what it has. */
  stop(): Promise<void>;
  /** Gives back what it has. */
  giveBack(): Promise<void>;
}

/** Starts `dramatis worker` in this process. */
export function startWorker(url: string, atOnce?: number): NearWorker {
  const said: string[] = [];
  const [stop, quit] = [new AbortController(), new AbortController()];
  const say = (text: string): void => void said.push(text);
  const done = work({
    url,
    atOnce,
    name: 'here',
    print: say,
    note: say,
    open: (facts, services) => openWork(facts, { host, ...services }),
    stop: stop.signal,
    quit: quit.signal,
  });
  const ended = async (...ends: AbortController[]): Promise<void> => {
    for (const end of ends) end.abort();
    await done;
  };
  return {
    said,
    stop: () => ended(stop),
    giveBack: () => ended(stop, quit),
    [Symbol.asyncDispose]: () => ended(stop, quit),
  };
}

/** A command of `dramatis` in its own process. */
export interface CommandProcess {
  readonly child: ChildProcess;
  readonly exited: Promise<number | null>;
  /** Resolves when it has printed a text. */
  told(text: string): Promise<void>;
}

/** Starts a command of `dramatis` in its own process. */
export function startCommand(args: readonly string[]): CommandProcess {
  const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = (once(child, 'exit') as Promise<[number | null]>).then(([status]) => status);
  const lines: string[] = [];
  const wanted = new Set<() => void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    for (const look of wanted) look();
  });
  return {
    child,
    exited,
    async told(text) {
      await new Promise<void>((resolve) => {
        const look = (): void => {
          if (!lines.some((line) => line.includes(text))) return;
          wanted.delete(look);
          resolve();
        };
        wanted.add(look);
        look();
      });
    },
  };
}
