import { EvalError } from './eval-error.ts';
import type { SharedTurns } from './limits.ts';
import type { ProgressTarget } from '../server/terminal/progress-bar.ts';

/** Server under test. */
export interface HostedServer {
  readonly url: string;
  readonly apiKey?: string;
  /** False if it has no LLM, so that characters can only evade questions. */
  readonly hasModel: boolean;
  close(): Promise<void>;
}

/** Reference clip for voice cloning. */
export interface HostedReference {
  readonly wav: string;
  readonly transcript: string;
  readonly language: string;
  /** Consent record: the person who allowed the cloning, and the evidence for it. */
  readonly consent: string;
}

/** Processes that do the jobs of a run on this machine. */
export interface JobsHost {
  /** Starts a Redis that ends with this process. */
  startRedis(): Promise<{ readonly url: string; stop(): void }>;
  /** Starts `dramatis worker`; `secrets` are settings of the server that hold keys, by name. */
  startWorker(options: { readonly url: string; readonly secrets: Readonly<Record<string, string | boolean>> }): {
    readonly ended: Promise<void>;
    /** Makes it give back its work. */
    stop(): void;
  };
}

/** Services that the surrounding program gives to the harness, which itself reaches servers only as a client. */
export interface EvalHost {
  /** Starts one of our servers on a free loopback port. `settings` are by name, `references` by character. */
  startServer(options: {
    readonly settings: Readonly<Record<string, string | boolean>>;
    readonly charactersDir: string;
    readonly references: Readonly<Record<string, HostedReference>>;
    readonly sessions: number;
    readonly audioRate: number;
  }): Promise<HostedServer>;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly print: (text: string) => void;
  /** Prints a problem, to standard error. */
  readonly note: (text: string) => void;
  /** Writes a result to standard output as it is. */
  readonly write: (text: string) => void;
  readonly progress: ProgressTarget;
  /** Absent if runs cannot start workers. */
  readonly jobs?: JobsHost;
  /** Start times that all workers of a run share; absent outside of workers. */
  readonly turns?: SharedTurns;
}

/** Reads a key from an environment variable. Throws an `EvalError` if the variable is named but not set. */
export function keyIn(variable: string | undefined, host: Pick<EvalHost, 'environment'>): string | undefined {
  if (variable === undefined) return undefined;
  const key = host.environment[variable];
  if (key === undefined || key === '')
    throw new EvalError('usage', `The environment variable ${variable} is not set. Set it to the API key.`);
  return key;
}
