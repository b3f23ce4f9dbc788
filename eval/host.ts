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

/** Command-line flag. */
export interface EvalFlag {
  readonly type: 'string' | 'boolean';
  readonly help: string;
  /** Placeholder of the value in the help text. */
  readonly value?: string;
}

/** Services that the surrounding program gives to the harness, which itself reaches servers only as a client. */
export interface EvalHost {
  readonly version: string;
  /** The server's settings as command-line flags, by type. */
  readonly serverFlags: Readonly<Record<string, 'string' | 'boolean'>>;
  /** Server flags that hold keys: passed on to the server, never written to disk. */
  readonly secretFlags: readonly string[];
  /** Formats a command's help: usage, description, flags, and closing text. */
  helpText(usage: string, about: string, flags: Readonly<Record<string, EvalFlag>>, more: string): string;
  /** Describes an error of Node's `parseArgs`. */
  optionProblem(fault: unknown): string;
  /**
   * Starts one of our servers on a free loopback port. `flags` are command-line flags; `references` are keyed by
   * character.
   */
  startServer(options: {
    readonly flags: Readonly<Record<string, string | boolean>>;
    readonly charactersDir: string;
    readonly references: Readonly<Record<string, HostedReference>>;
    readonly sessions: number;
    readonly audioRate: number;
  }): Promise<HostedServer>;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  readonly environment: Readonly<Record<string, string | undefined>>;
  print(text: string): void;
  readonly progress: {
    readonly isTTY?: boolean;
    readonly columns?: number;
    write(text: string): unknown;
  };
}
