import { numberFlag, textFlag, UsageError, type FlagFacts, type FlagValue } from '../../server/terminal/flags.ts';

/** Variable with the URL of the jobs' Redis or PostgreSQL: unlike a flag, it does not show its password to other users. */
export const jobsVariable = 'DRAMATIS_JOBS_URL';

const defaultLeaseSeconds = 30;

/** Flags of commands whose work may be done by workers. */
export const jobFlags = {
  jobs: {
    type: 'string',
    value: 'URL',
    help: `Redis or PostgreSQL that distributes the work to workers, see \`dramatis worker\` (default $${jobsVariable})`,
  },
  workers: {
    type: 'string',
    value: 'N',
    help: 'start N workers on this machine; without --jobs, also starts a Redis for them',
  },
  'worker-timeout': {
    type: 'string',
    value: 'SECONDS',
    help: `time without a sign of life after which others take over a worker’s work (default ${defaultLeaseSeconds})`,
  },
} as const satisfies Record<string, FlagFacts>;

/** Place where the work of a run is done, if not in this process. */
export interface JobsWanted {
  /** Absent: a Redis for this run only. */
  readonly url: string | undefined;
  /** Workers to start on this machine. */
  readonly workers: number;
  readonly leaseMs: number;
}

/** Reads the flags above; undefined if the work is done here. */
export function jobsWanted(
  values: Readonly<Partial<Record<keyof typeof jobFlags, FlagValue>>>,
  environment: Readonly<Record<string, string | undefined>>,
): JobsWanted | undefined {
  const url = textFlag(values.jobs) ?? textFlag(environment[jobsVariable]);
  const workers = numberFlag(values.workers, 'workers', { min: 1, max: 256, isWhole: true }) ?? 0;
  const seconds = numberFlag(values['worker-timeout'], 'worker-timeout', { min: 1, max: 3_600 });
  if (url !== undefined) requireJobsUrl(url);
  if (url === undefined && workers === 0) return undefined;
  return { url, workers, leaseMs: (seconds ?? defaultLeaseSeconds) * 1_000 };
}

/** Throws a `UsageError` if a URL is neither that of a Redis nor of a PostgreSQL. */
export function requireJobsUrl(url: string): void {
  if (/^(?:rediss?|postgres(?:ql)?):\/\/[^/]/.test(url)) return;
  throw new UsageError(
    `--jobs (or ${jobsVariable}) must be redis://HOST:PORT, rediss:// for TLS, or postgres://USER:PASSWORD@HOST:PORT/DATABASE.`,
  );
}

/** The address of a store without its user and password. */
export function placeOf(url: string): string {
  try {
    const { protocol, host } = new URL(url);
    return `${protocol}//${host}`;
  } catch {
    return 'the address of --jobs';
  }
}
