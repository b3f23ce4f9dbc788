/** A server to be measured. */
export interface HostedServer {
  readonly url: string;
  readonly apiKey?: string;
  close(): Promise<void>;
}

/** A clip that a voice is cloned from. */
export interface HostedReference {
  readonly wav: string;
  readonly transcript: string;
  readonly language: string;
  /** Who allowed the voice to be cloned, and how that is known. */
  readonly consent: string;
}

/** A flag of a command. */
export interface EvalFlag {
  readonly type: 'string' | 'boolean';
  readonly help: string;
  /** Name of the value in the help. */
  readonly value?: string;
}

/** What the program around the harness lends it: the harness itself knows servers as a client does, and no other way. */
export interface EvalHost {
  readonly version: string;
  /** The server's settings as flags of the command line, and whether each has a value. */
  readonly serverFlags: Readonly<Record<string, 'string' | 'boolean'>>;
  /** Those of them that hold keys: they are handed on, and never kept. */
  readonly secretFlags: readonly string[];
  /** The help of a command: how it is called, what it is for, its flags, and what else is to be said. */
  helpText(usage: string, about: string, flags: Readonly<Record<string, EvalFlag>>, more: string): string;
  /** What is wrong with a command line that Node's `parseArgs` did not take. */
  optionProblem(fault: unknown): string;
  /** Starts a server of our own on a free loopback port. `flags` are those of the command line; clips are by character. */
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
