import type { ProgressTarget } from '../server/terminal/progress-bar.ts';

/** Server under test. */
export interface HostedServer {
  readonly url: string;
  readonly apiKey?: string;
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
  readonly progress: ProgressTarget;
}
