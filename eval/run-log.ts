import { open, stat, type FileHandle } from 'node:fs/promises';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { z } from 'zod';
import { EvalError } from './eval-error.ts';
import { packageVersion } from '../server/terminal/version.ts';

/** First line of a log. */
export const runHeader = z.object({
  event: z.literal('run'),
  /** Version of the log format. */
  log: z.literal(1),
  at: z.string(),
  task: z.object({ name: z.string(), version: z.number() }),
  versions: z.record(z.string(), z.string()),
  /** Commit of this repository; null if there is none. */
  commit: z.string().nullable(),
  /** Run configuration, enough to resume the run. Holds names of environment variables, never keys. */
  config: z.record(z.string(), z.unknown()),
  models: z.record(z.string(), z.string()),
  /** SHA-256 of each prompt template. */
  prompts: z.record(z.string(), z.string()),
  seeds: z.record(z.string(), z.number()),
  data: z.object({ hash: z.string(), samples: z.number() }),
});

const line = z.discriminatedUnion('event', [
  runHeader,
  z.object({ event: z.literal('resumed'), at: z.string() }),
  /** Facts about a sample, so that scoring needs nothing but the log. */
  z.object({ event: z.literal('sample'), sample: z.string(), about: z.unknown() }),
  z.object({ event: z.literal('output'), sample: z.string(), output: z.unknown(), ms: z.number() }),
  z.object({
    event: z.literal('measured'),
    sample: z.string(),
    scorer: z.string(),
    ask: z.string(),
    value: z.unknown(),
    ms: z.number(),
    /** Cost in US dollars. */
    cost: z.number().optional(),
  }),
  z.object({
    event: z.literal('failed'),
    sample: z.string(),
    /** Absent if the system under test failed. */
    scorer: z.string().optional(),
    ask: z.string().optional(),
    code: z.string(),
    message: z.string(),
  }),
  z.object({ event: z.literal('ended'), at: z.string(), reason: z.string() }),
]);

export type RunHeader = z.infer<typeof runHeader>;
export type LogLine = z.infer<typeof line>;
export type FailedLine = Extract<LogLine, { event: 'failed' }>;

/** Contents of a run's log so far. */
export interface RunRecord {
  readonly header: RunHeader;
  /** All samples of the run by id, in run order. */
  readonly samples: ReadonlyMap<string, unknown>;
  /** Outputs by sample id. */
  readonly outputs: ReadonlyMap<string, unknown>;
  /** Measurements by sample id, then by `scorer/ask`. */
  readonly measured: ReadonlyMap<string, ReadonlyMap<string, unknown>>;
  /** Failures without a later success. */
  readonly failures: readonly FailedLine[];
  readonly spentDollars: number;
  /** Duplicate measurements in the log; the first one counts. Always 0 unless the log was edited. */
  readonly repeated: number;
  /** Why the run's last part ended; null if it was killed or is still running. */
  readonly ended: string | null;
}

/** Returns the key of a measurement within its sample. */
export function measurementKey(scorer: string, ask: string): string {
  return `${scorer}/${ask}`;
}

/**
 * Reads a log, line by line. Skips a last line torn by a kill; any other unreadable line is an `EvalError` that names
 * it.
 */
export async function readRunLog(file: string): Promise<RunRecord> {
  const state = new RecordBuilder();
  const handle = await openToRead(file);
  try {
    let number = 0;
    let held: { readonly text: string; readonly number: number } | undefined;
    for await (const text of handle.readLines()) {
      // Parses one line behind, because only the last line may be torn.
      if (held !== undefined) state.take(parseLine(file, held.text, held.number));
      number += 1;
      held = { text, number };
    }
    if (held !== undefined) state.takeLast(() => parseLine(file, held.text, held.number));
  } finally {
    await handle.close().catch(() => undefined);
  }
  return state.finish(file);
}

/** Reads only the first line of a log. */
export async function readRunHeader(file: string): Promise<RunHeader> {
  const handle = await openToRead(file);
  const state = new RecordBuilder();
  try {
    for await (const text of handle.readLines()) {
      state.takeLast(() => parseLine(file, text, 1));
      break;
    }
  } finally {
    await handle.close().catch(() => undefined);
  }
  return state.finish(file).header;
}

function openToRead(file: string): Promise<FileHandle> {
  return open(file, 'r').catch((cause: unknown) => {
    throw new EvalError('log', `${file} does not exist. Give the folder of a run.`, cause);
  });
}

function parseLine(file: string, text: string, number: number): LogLine {
  try {
    return line.parse(JSON.parse(text));
  } catch (cause) {
    throw new EvalError(
      'log',
      `${file}:${number} is not a line of a run's log. Undo the last edit of the file.`,
      cause,
    );
  }
}

class RecordBuilder {
  #header: RunHeader | undefined;
  #samples = new Map<string, unknown>();
  #outputs = new Map<string, unknown>();
  #measured = new Map<string, Map<string, unknown>>();
  #failures = new Map<string, FailedLine>();
  #spent = 0;
  #repeated = 0;
  #ended: string | null = null;

  take(event: LogLine): void {
    if (event.event === 'run') this.#header ??= event;
    else if (event.event === 'sample') this.#samples.set(event.sample, event.about);
    else if (event.event === 'resumed') this.#ended = null;
    else if (event.event === 'ended') this.#ended = event.reason;
    else if (event.event === 'failed') this.#failures.set(failureKey(event), event);
    else if (event.event === 'output') {
      this.#outputs.set(event.sample, event.output);
      this.#failures.delete(failureKey(event));
    } else this.#takeMeasured(event);
  }

  takeLast(read: () => LogLine): void {
    let event: LogLine;
    try {
      event = read();
    } catch (fault) {
      if (this.#header === undefined) throw fault;
      return;
    }
    this.take(event);
  }

  finish(file: string): RunRecord {
    if (this.#header === undefined)
      throw new EvalError(
        'log',
        `${file} has no configuration in its first line. Start the run again in another folder.`,
      );
    return {
      header: this.#header,
      samples: this.#samples,
      outputs: this.#outputs,
      measured: this.#measured,
      failures: [...this.#failures.values()],
      spentDollars: this.#spent,
      repeated: this.#repeated,
      ended: this.#ended,
    };
  }

  #takeMeasured(event: Extract<LogLine, { event: 'measured' }>): void {
    const ofSample = this.#measured.get(event.sample) ?? new Map<string, unknown>();
    this.#measured.set(event.sample, ofSample);
    const key = measurementKey(event.scorer, event.ask);
    this.#spent += event.cost ?? 0;
    if (ofSample.has(key)) this.#repeated += 1;
    else ofSample.set(key, event.value);
    this.#failures.delete(failureKey(event));
  }
}

function failureKey(about: { sample: string; scorer?: string | undefined; ask?: string | undefined }): string {
  return JSON.stringify([about.sample, about.scorer ?? '', about.ask ?? '']);
}

/** Append-only writer of lines of JSON. */
export interface LineWriter<Line> {
  /** Resolves when the line is with the operating system: killing this process can no longer lose it. */
  append(line: Line): Promise<void>;
  close(): Promise<void>;
}

export type RunLog = LineWriter<LogLine>;

/**
 * Opens a log for appending, after cutting off a torn last line. With `fresh`, the log must then be empty: a run killed
 * before its first line was complete never began.
 */
export async function openRunLog(file: string, { fresh = false } = {}): Promise<RunLog> {
  const log = await openLines(file);
  if (fresh && (await stat(file)).size > 0) {
    await log.close();
    throw new EvalError(
      'log',
      `${file} exists already. Continue that run with \`eval resume\`, or use another folder.`,
    );
  }
  return log;
}

/** Opens a file of lines of JSON for appending, after cutting off a torn last line. */
export async function openLines(file: string): Promise<LineWriter<unknown>> {
  const handle = await open(file, 'a+').catch((cause: unknown) => {
    throw new EvalError('log', `${file} cannot be opened for writing. Check the permissions of its folder.`, cause);
  });
  await cutTornLine(handle);
  let waiting: string[] = [];
  let writing: Promise<void> | undefined;
  const drain = async (): Promise<void> => {
    // Lines that arrive during a write are batched into the next one.
    await Promise.resolve();
    while (waiting.length > 0) {
      const batch = waiting.join('');
      waiting = [];
      await handle.appendFile(batch);
    }
    writing = undefined;
  };
  return {
    async append(line) {
      waiting.push(`${JSON.stringify(line)}\n`);
      writing ??= drain();
      await writing;
    },
    async close() {
      await writing;
      await handle.sync();
      await handle.close();
    },
  };
}

async function cutTornLine(handle: FileHandle): Promise<void> {
  const { size } = await handle.stat();
  const block = Buffer.alloc(64 * 1024);
  for (let end = size; end > 0;) {
    const start = Math.max(0, end - block.length);
    const { bytesRead } = await handle.read(block, 0, end - start, start);
    const newline = block.subarray(0, bytesRead).lastIndexOf(10);
    if (newline >= 0) {
      if (start + newline + 1 < size) await handle.truncate(start + newline + 1);
      return;
    }
    end = start;
  }
  await handle.truncate(0);
}

/** Builds the first line of a log: the run's facts, with the time, versions and the commit. */
export async function buildHeader(
  facts: Pick<RunHeader, 'task' | 'config' | 'models' | 'prompts' | 'seeds' | 'data'>,
): Promise<RunHeader> {
  return {
    event: 'run',
    log: 1,
    at: new Date().toISOString(),
    versions: { dramatis: packageVersion(), node: process.versions.node },
    commit: await commitOf(),
    ...facts,
  };
}

async function commitOf(): Promise<string | null> {
  try {
    const { stdout } = await promisify(execFile)('git', ['rev-parse', 'HEAD'], { cwd: import.meta.dirname });
    return stdout.trim();
  } catch {
    return null;
  }
}
