import type { SessionEvent, SessionListener } from '../session/contract/events.ts';
import { linesOf } from './event-lines.ts';
import type { JournalLine } from './lines.ts';

/** Sequence numbers are reserved in blocks, so that most frames need no line. */
const sequenceBlock = 1_000;

/** Keeps the lines of one session's journal. Positions count lines; they only rise. */
export interface SessionLog {
  /** Number of lines that it was given. */
  readonly position: number;
  /** The lines up to this position survive the process. */
  readonly writtenTo: number;
  /** True if a frame must wait until the lines before it are written. */
  readonly holdsFrames: boolean;
  /** True while lines cannot be written, and for good once the log was given up. */
  readonly isFailing: boolean;
  /** True if another process can continue the session at any time. */
  readonly isShared: boolean;
  /** Called when lines have been written, or when frames need not wait for them. */
  onWritten?: () => void;
  /** Writes lines: a kill leaves all of them, or the first few. */
  write(lines: readonly JournalLine[]): void;
  /**
   * Ends the log. What is stored stays, for another process. Returns a promise if that process must wait: it settles once
   * it need not, and never rejects.
   */
  close(): Promise<void> | undefined;
  /** Ends the log and deletes it. Does nothing after `close`. */
  remove(): void;
}

/** Calls of a log for what its session must learn. */
export interface LogCalls {
  /** Called once for each time that writing fails. */
  readonly onFault: (fault: unknown) => void;
  /** Called once, when another process has taken the session over: it must end here, in silence. */
  readonly onTaken: () => void;
}

/** The journals of resumable sessions, by hash of their resume token. */
export interface SessionStore {
  /** True if other processes, perhaps of another version, read the journals meanwhile. */
  readonly isShared: boolean;
  /** Returns whether there is a journal to continue. */
  has(tokenHash: string): boolean;
  /** Returns the journal to continue; undefined if there is none. Throws `JournalError` if it cannot be read. */
  read(tokenHash: string): JournalLine[] | undefined;
  /** Continues the journal that `read` returns, or begins one. */
  open(tokenHash: string, calls: LogCalls): SessionLog;
}

/** Write-ahead journal of one session: what it needs to continue in another process. */
export class Journal implements SessionListener {
  readonly #log: SessionLog;
  #reserved = 0;
  #sequence = 0;

  constructor(log: SessionLog) {
    this.#log = log;
  }

  /** The log, for frames that wait for it. */
  get log(): SessionLog {
    return this.#log;
  }

  write(...lines: readonly JournalLine[]): void {
    this.#log.write(lines);
  }

  /** Must be called before a frame with this sequence number is sent. */
  reserve(sequence: number): void {
    this.#sequence = sequence;
    if (sequence <= this.#reserved) return;
    this.#reserved = sequence + sequenceBlock;
    this.write({ type: 'sequence', upTo: this.#reserved });
  }

  /** Records an event that is about to be sent to the client. */
  note(event: SessionEvent): void {
    this.write(...linesOf(event));
  }

  /** Records an event as it is sent to the client, so that another process can send it again. */
  told(sequence: number, event: Readonly<Record<string, unknown>>, acknowledged: number): void {
    this.write({ type: 'told', sequence, event: { ...event }, acknowledged });
  }

  /** Records how much of a reply the client has played. */
  heard(replyId: string, heardMs: number): void {
    this.write({ type: 'heard', replyId, heardMs });
  }

  /**
   * Stops recording, for another process to continue. One that may do so at once learns the exact number of the last
   * frame. Returns what `SessionLog.close` does.
   */
  close(): Promise<void> | undefined {
    if (this.#log.isShared && this.#sequence > 0) this.write({ type: 'sequence', upTo: this.#sequence });
    return this.#log.close();
  }

  /** Deletes the journal of a session that has ended. */
  remove(): void {
    this.#log.remove();
  }
}
