import { fold } from '../journal/fold.ts';
import type { LogCalls, SessionLog } from '../journal/journal.ts';
import { journalVersion, type JournalLine } from '../journal/lines.ts';

/** The store's answer to a write: another node owns the session (`fenced`), or earlier lines are missing (`behind`). */
export type Verdict = 'written' | 'fenced' | 'behind';

/** Commands of a log to the store, with the epoch of its session. A rejection means that the store does not answer. */
export interface LogCommands {
  append(from: number, to: number, rows: readonly string[]): Promise<Verdict>;
  replace(to: number, rows: readonly string[]): Promise<Verdict>;
  release(): Promise<Verdict>;
  remove(): Promise<Verdict>;
}

/** Calls of a shared log for its store. */
export interface SharedLogCalls extends LogCalls {
  /** Called once, when the log has ended. */
  readonly onOver: () => void;
  /** False if this process has slept for so long that another node may have the session: frames wait for `check`. */
  readonly isAwake: () => boolean;
}

/** The journal as the store had it when it was claimed. */
export interface ClaimedLines {
  readonly position: number;
  readonly lines: readonly JournalLine[];
}

/** The journal is folded at this many lines, and at twice its folded length: a constant share of writing. */
const foldAtLines = 64;

/** It is folded at this many sounds of phrases, too: most have been heard, and each may have 50 kB. */
const foldAtSounds = 12;

/** A session that is left while the store does not answer is written again for some seconds: else its last turns are lost. */
const mostTries = 10;
const retryMs = 200;

/**
 * The journal of one session in a store that nodes share. One write is on its way at a time. Memory has the whole journal,
 * folded, so that it can be written again if the store loses it. While the store does not answer, frames do not wait.
 */
export class SharedLog implements SessionLog {
  readonly isShared = true;
  onWritten?: () => void;
  readonly #commands: LogCommands;
  readonly #calls: SharedLogCalls;
  #lines: JournalLine[];
  #rows: string[] = [];
  #position: number;
  #writtenTo: number;
  #foldAt: number;
  #sounds = 0;
  #isUnkept = false;
  /** The store must get the whole journal. */
  #isBehind: boolean;
  #mustAsk = false;
  /** Set once the session writes no more. */
  #end: 'release' | 'remove' | 'fenced' | undefined;
  #sending: Promise<void> | undefined;

  constructor(commands: LogCommands, calls: SharedLogCalls, claimed?: ClaimedLines) {
    this.#commands = commands;
    this.#calls = calls;
    const lines = claimed?.lines ?? [];
    const isOld = (line: JournalLine): boolean =>
      line.type === 'open' && line.version !== undefined && line.version < journalVersion;
    // Lines of this version follow: an older node must not take the journal for one of its own.
    this.#lines = lines.map((line) => (isOld(line) ? { ...line, version: journalVersion } : line) as JournalLine);
    this.#position = claimed?.position ?? 0;
    this.#writtenTo = this.#position;
    this.#foldAt = Math.max(foldAtLines, this.#lines.length * 2);
    this.#isBehind = claimed === undefined || lines.some(isOld);
  }

  get position(): number {
    return this.#position;
  }

  get writtenTo(): number {
    return this.#calls.isAwake() ? this.#writtenTo : -1;
  }

  get holdsFrames(): boolean {
    return !this.#isUnkept && this.#end === undefined;
  }

  /** True while the latest events are only in this process. */
  get isFailing(): boolean {
    return this.#isUnkept;
  }

  write(lines: readonly JournalLine[]): void {
    if (this.#end !== undefined || lines.length === 0) return;
    this.#lines.push(...lines);
    this.#position += lines.length;
    if (!this.#isUnkept) this.#rows.push(...lines.map((line) => JSON.stringify(line)));
    this.#sounds += soundsIn(lines);
    if (this.#lines.length >= this.#foldAt || this.#sounds >= foldAtSounds) this.#fold();
    if (!this.#isUnkept) this.#send();
  }

  /** Asks the store if this node is still the owner, and writes what the store does not have. Settles when that is known. */
  async check(): Promise<boolean> {
    this.#mustAsk = true;
    this.#send();
    await this.#sending;
    return this.#end !== 'fenced';
  }

  close(): Promise<void> {
    if (this.#end === undefined) {
      this.#end = 'release';
      this.#send();
    }
    return this.idle();
  }

  remove(): void {
    if (this.#end !== undefined) return;
    this.#end = 'remove';
    this.#send();
  }

  /** Settles when nothing is on its way to the store. */
  async idle(): Promise<void> {
    await this.#sending;
  }

  #fold(): void {
    this.#lines = fold(this.#lines);
    this.#foldAt = Math.max(foldAtLines, this.#lines.length * 2);
    this.#sounds = soundsIn(this.#lines);
    this.#isBehind = true;
  }

  #send(): void {
    this.#sending ??= this.#sendAll();
  }

  async #sendAll(): Promise<void> {
    // All lines of one event go together.
    await Promise.resolve();
    let goesOn = true;
    while (goesOn && this.#end !== 'remove' && (this.#rows.length > 0 || this.#isBehind || this.#mustAsk))
      goesOn = await this.#sendOnce();
    for (let tries = 0; this.#end === 'release' && this.#isBehind && tries < mostTries; tries += 1) {
      await new Promise<void>((resolve) => void setTimeout(resolve, retryMs));
      await this.#sendOnce();
    }
    if (this.#end === 'release' || this.#end === 'remove') await this.#leave(this.#end);
    this.#sending = undefined;
  }

  /** Returns false if the rest must wait. */
  async #sendOnce(): Promise<boolean> {
    const to = this.#position;
    const rows = this.#rows;
    const isWhole = this.#isBehind;
    this.#rows = [];
    this.#isBehind = false;
    this.#mustAsk = false;
    let verdict: Verdict;
    try {
      verdict = isWhole
        ? await this.#commands.replace(
            to,
            this.#lines.map((line) => JSON.stringify(line)),
          )
        : await this.#commands.append(to - rows.length, to, rows);
    } catch (fault) {
      return this.#miss(fault);
    }
    if (verdict === 'fenced') return this.#fence();
    if (verdict === 'behind') this.#isBehind = true;
    else {
      this.#writtenTo = to;
      this.#isUnkept = false;
      this.onWritten?.();
    }
    return true;
  }

  /** The session continues without the store. `check` tries again. */
  #miss(fault: unknown): false {
    this.#rows = [];
    this.#isBehind = true;
    if (!this.#isUnkept) this.#calls.onFault(fault);
    this.#isUnkept = true;
    this.onWritten?.();
    return false;
  }

  #fence(): false {
    this.#end = 'fenced';
    this.#isUnkept = false;
    this.#calls.onOver();
    this.#calls.onTaken();
    return false;
  }

  async #leave(how: 'release' | 'remove'): Promise<void> {
    // If the store does not answer, the session is free once it misses this node.
    await this.#commands[how]().catch(() => undefined);
    this.#calls.onOver();
  }
}

function soundsIn(lines: readonly JournalLine[]): number {
  return lines.filter(({ type }) => type === 'sound').length;
}
