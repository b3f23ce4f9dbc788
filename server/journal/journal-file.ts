import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { writeFileAtomicSync } from '../../voices/runtime/files.ts';
import { fold } from './fold.ts';
import type { SessionLog, SessionStore } from './journal.ts';
import { journalVersion, lineSchema, type JournalLine } from './lines.ts';

/**
 * Size at which a journal is folded for the first time. A conversation of an hour writes a tenth of it; only a client that
 * changes the same things over and over writes more.
 */
const foldAtBytes = 4 * 1024 * 1024;

/** It is folded again at this multiple of its folded size, so that folding costs a constant share of writing. */
const foldGrowth = 4;

/** Lines that wait for room on the disk. With more, the session is recorded no longer. */
const mostWaitingBytes = 4 * 1024 * 1024;

/** A journal that cannot be read; the message says what to do about it. */
export class JournalError extends Error {
  override readonly name = 'JournalError';
  readonly code = 'journal_unreadable';
  /** A newer version of Dramatis wrote it, and can read it. */
  readonly isNewer: boolean;

  constructor(message: string, { isNewer = false, ...options }: ErrorOptions & { readonly isNewer?: boolean } = {}) {
    super(message, options);
    this.isNewer = isNewer;
  }
}

/**
 * The file of one session's journal. Each write is a single one of the system, so a kill at any moment loses at most the
 * last line. While the disk is full, lines wait in memory, and the session continues.
 */
export class JournalFile implements SessionLog {
  readonly holdsFrames = false;
  readonly isShared = false;
  readonly #file: string;
  readonly #onFault: (fault: unknown) => void;
  #descriptor: number | undefined;
  /** Bytes in the file, and the size at which it is folded. */
  #bytes = 0;
  #foldAt = foldAtBytes;
  #waiting: Buffer[] = [];
  #isFailing = false;
  #closed = false;
  #position = 0;
  #writtenTo = 0;

  /** Creates the file, or appends to an existing one. `onFault` is called once for each time that writing fails. */
  constructor(file: string, onFault: (fault: unknown) => void = () => undefined) {
    this.#file = file;
    this.#onFault = onFault;
    this.#flush();
  }

  get position(): number {
    return this.#position;
  }

  get isFailing(): boolean {
    return this.#isFailing;
  }

  get writtenTo(): number {
    return this.#writtenTo;
  }

  write(lines: readonly JournalLine[]): void {
    if (lines.length === 0) return;
    this.#position += lines.length;
    if (this.#closed) return;
    this.#waiting.push(Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join('')));
    this.#flush();
  }

  /** Writes the waiting lines. After a failure the next line tries again and opens the file again. */
  #flush(): void {
    try {
      this.#descriptor ??= this.#open();
      const text = Buffer.concat(this.#waiting);
      for (let written = 0; written < text.length;)
        written += writeSync(this.#descriptor, text, written, text.length - written);
      this.#bytes += text.length;
      this.#waiting = [];
      this.#isFailing = false;
      this.#writtenTo = this.#position;
    } catch (fault) {
      return this.#fail(fault);
    }
    if (this.#bytes > this.#foldAt) this.#fold();
  }

  #open(): number {
    mkdirSync(path.dirname(this.#file), { recursive: true, mode: 0o700 });
    const descriptor = openSync(this.#file, 'a', 0o600);
    this.#bytes = statSync(this.#file).size;
    // What a kill has left of a line would spoil the next one.
    const last = this.#bytes === 0 ? -1 : readFileSync(this.#file).lastIndexOf('\n');
    if (last + 1 < this.#bytes) ftruncateSync(descriptor, (this.#bytes = last + 1));
    return descriptor;
  }

  #fail(fault: unknown): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
    if (!this.#isFailing) this.#onFault(fault);
    this.#isFailing = true;
    if (this.#waiting.reduce((sum, { length }) => sum + length, 0) < mostWaitingBytes) return;
    this.remove();
    this.#onFault(new JournalError(`${this.#file}: too much waits for room on the disk; the session is not recorded.`));
  }

  /** Replaces the file by a shorter one that restores the same session. A kill leaves one of the two. */
  #fold(): void {
    try {
      const lines = rowsOf(this.#file).map((row) => JSON.parse(row) as JournalLine);
      const folded = fold(lines).map((line) => `${JSON.stringify(line)}\n`);
      writeFileAtomicSync(this.#file, folded.join(''));
      if (this.#descriptor !== undefined) closeSync(this.#descriptor);
      this.#descriptor = this.#open();
      this.#foldAt = Math.max(foldAtBytes, this.#bytes * foldGrowth);
    } catch (fault) {
      this.#foldAt = this.#bytes + foldAtBytes;
      this.#onFault(fault);
    }
  }

  /** Stops recording. The file stays, for another server process to restore. */
  close(): undefined {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  /** Deletes the journal of a session that has ended. A failure goes to `onFault`. */
  remove(): void {
    if (this.#closed) return;
    this.close();
    try {
      rmSync(this.#file, { force: true });
    } catch (fault) {
      this.#onFault(fault);
    }
  }
}

/**
 * Reads a journal; undefined if there is none. A last line that a kill has cut is left out. Throws `JournalError` if any
 * other line cannot be read, or if a newer version of Dramatis has written it.
 */
export function readJournal(file: string): JournalLine[] | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  return whole
    .split('\n')
    .filter(Boolean)
    .map((row, index) => lineIn(row, `${file}:${index + 1}`));
}

/** Reads a line of a journal. `place` names it in the `JournalError` that is thrown if it cannot be read. */
export function lineIn(row: string, place: string): JournalLine {
  let value: unknown;
  try {
    value = JSON.parse(row);
    return lineSchema.parse(value);
  } catch (cause) {
    const { version, type } = Object(value) as { readonly version?: unknown; readonly type?: unknown };
    const newer =
      typeof version === 'number' && version > journalVersion
        ? `this journal has version ${version}; this Dramatis reads version ${journalVersion}`
        : typeof type === 'string' && !lineTypes.has(type)
          ? `this Dramatis does not know lines of type ${JSON.stringify(type.slice(0, 40))}`
          : undefined;
    const detail =
      newer === undefined
        ? 'this line of the journal cannot be read. Restore the file from a copy'
        : `${newer}. Start the newer one`;
    throw new JournalError(`${place}: ${detail}, or delete the file: its session then cannot be resumed.`, {
      cause,
      isNewer: newer !== undefined,
    });
  }
}

const lineTypes = new Set<string>(lineSchema.options.map(({ shape }) => shape.type.value));

function rowsOf(file: string): string[] {
  return readFileSync(file, 'utf8').split('\n').filter(Boolean);
}

/** Path of the journal for a token's hash. */
export function journalFile(dataDir: string, tokenHash: string): string {
  return path.join(dataDir, 'sessions', `${tokenHash}.jsonl`);
}

/** Deletes the journals of sessions that were not resumed within `graceMs` of their last line. */
export function sweepJournals(dataDir: string, graceMs: number): void {
  const folder = path.join(dataDir, 'sessions');
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    return;
  }
  for (const name of names.filter((one) => one.endsWith('.jsonl'))) {
    const file = path.join(folder, name);
    if (Date.now() - statSync(file).mtimeMs > graceMs) rmSync(file, { force: true });
  }
}

/** The journals of one machine, in the data folder. */
export function sessionFiles(dataDir: string): SessionStore {
  return {
    isShared: false,
    has: (tokenHash) => existsSync(journalFile(dataDir, tokenHash)),
    read: (tokenHash) => readJournal(journalFile(dataDir, tokenHash)),
    open: (tokenHash, { onFault }) => new JournalFile(journalFile(dataDir, tokenHash), onFault),
  };
}
