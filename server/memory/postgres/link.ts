import { setTimeout as pause } from 'node:timers/promises';
import { Pool, types, type PoolClient } from 'pg';
import type { Perform } from '../store/copied.ts';
import { MemoryError } from '../store/record.ts';
import {
  plainOf,
  purgeNote,
  type Outcome,
  type Plain,
  type Statement,
  type Steps,
  type Value,
} from '../store/steps.ts';

/** Most connections of one node; each is used for a few milliseconds a turn. */
const mostConnections = 8;
/** Longest wait for a connection, unless the work has less time. */
const connectMs = 5_000;
/** Pause between two attempts to reach a database that is gone. */
const probeMs = 500;

export type Row = Readonly<Record<string, unknown>>;

/** Runs a statement with `$1` for each value, and returns its rows. */
export type Query = (sql: string, values: readonly Plain[]) => Promise<readonly Row[]>;

/** Seals content before it is stored, and opens it in rows that are read. */
export interface Sealer {
  /** `query` runs in the transaction that stores the values. */
  seal(query: Query, values: readonly Value[]): Promise<Plain[]>;
  /** Returns the rows without those whose key was erased. */
  open(rows: readonly Row[]): Promise<readonly Row[]>;
  /** The error of a key store that cannot be used. */
  faultOf(reason: string): MemoryError;
}

export interface LinkParts {
  readonly url: string;
  /** Absent if content is stored as it is. */
  readonly sealer?: Sealer | undefined;
  /** Prepares the database, each time before it counts as there. Throws `MemoryError` if it never will be usable. */
  readonly open: (link: Link) => Promise<void>;
  /** Called when the database goes, with the fault, and when it is back. */
  readonly onChange: (isThere: boolean, fault?: unknown) => void;
}

/**
 * The connections to a PostgreSQL. When it is gone or too slow, all work fails at once, until an attempt in the
 * background reaches it again: no conversation waits twice. Works behind PgBouncer in transaction mode.
 */
export class Link {
  readonly #parts: LinkParts;
  readonly #pool: Pool;
  readonly #closed = new AbortController();
  #isThere = false;
  /** Counts how often it was lost: work begun before that says nothing about the present database. */
  #losses = 0;
  /** Connections whose work waits for the key store. */
  readonly #awaitingKeys = new Set<PoolClient>();
  #probing: Promise<void> | undefined;

  constructor(parts: LinkParts) {
    this.#parts = parts;
    this.#pool = new Pool({
      connectionString: parts.url,
      max: mostConnections,
      connectionTimeoutMillis: connectMs,
      idleTimeoutMillis: 60_000,
      keepAlive: true,
      application_name: 'dramatis',
      types: { getTypeParser },
    });
    // A connection that breaks while it is idle; the next use finds out whether the database is gone.
    this.#pool.on('error', () => undefined);
    // One that breaks while it is used: its query fails, too.
    this.#pool.on('connect', (client) => client.on('error', () => undefined));
  }

  get isThere(): boolean {
    return this.#isThere;
  }

  /** Tries to reach the database, and continues in the background. Throws what `open` finds wrong with the database. */
  async start(): Promise<void> {
    try {
      await this.#parts.open(this);
      this.#isThere = true;
    } catch (fault) {
      if (!isGone(fault)) throw fault;
      this.#lose(fault);
    }
  }

  /** Runs the steps as one transaction, after `begin`, such as locks. Throws `MemoryError`. `isProbe`: see `use`. */
  transaction<Result>(begin: string, steps: Steps<Result>, withinMs: number, isProbe = false): Promise<Result> {
    return this.within(begin, (run) => run(steps), withinMs, isProbe);
  }

  /** As `transaction`, for work that has to wait for another database. */
  within<Result>(
    begin: string,
    act: (run: Perform) => Promise<Result>,
    withinMs: number,
    isProbe = false,
  ): Promise<Result> {
    const inTransaction = async (client: PoolClient): Promise<Result> => {
      // Another node that holds a lock for long is no reason to take the database for gone.
      const limits = `SET LOCAL statement_timeout = ${withinMs}; SET LOCAL lock_timeout = ${Math.ceil(withinMs * 0.8)}`;
      await client.query(`BEGIN; ${limits}; ${begin}`);
      try {
        const result = await act((steps) => this.#perform(client, steps));
        await client.query('COMMIT');
        return result;
      } catch (fault) {
        await client.query('ROLLBACK').catch(() => undefined);
        throw fault;
      }
    };
    return this.use(withinMs, inTransaction, isProbe);
  }

  /** Runs the steps, each statement on its own. Throws `MemoryError`. */
  read<Result>(steps: Steps<Result>, withinMs: number): Promise<Result> {
    return this.use(withinMs, (client) => this.#perform(client, steps));
  }

  /** Uses a connection, which is given up if that takes longer. Throws `MemoryError`. `isProbe`: also while gone. */
  async use<Result>(withinMs: number, act: (client: PoolClient) => Promise<Result>, isProbe = false): Promise<Result> {
    if (!this.#isThere && !isProbe) throw unavailable(new Gone('it did not answer before'));
    const losses = this.#losses;
    let client: PoolClient | undefined;
    const late = new AbortController();
    const tooLate = pause(withinMs, undefined, { signal: late.signal, ref: false }).then(
      () => {
        const isBusy = client === undefined && this.#pool.totalCount === mostConnections;
        if (isBusy) throw new Error('all connections are in use');
        const reason = `no answer within ${withinMs} ms`;
        const isOfKeys = client !== undefined && this.#awaitingKeys.has(client);
        throw (isOfKeys ? this.#parts.sealer?.faultOf(reason) : undefined) ?? new Gone(reason);
      },
      () => new Promise<never>(() => undefined),
    );
    const connecting = this.#pool.connect();
    // One that arrives too late goes back to the others.
    connecting.then(
      (one) => void (late.signal.aborted && one !== client && one.release()),
      () => undefined,
    );
    try {
      client = await Promise.race([connecting, tooLate]);
      const acting = act(client);
      // Given up, it fails when its connection is closed.
      acting.catch(() => undefined);
      const result = await Promise.race([acting, tooLate]);
      client.release();
      return result;
    } catch (fault) {
      client?.release(isGone(fault));
      if (isGone(fault) && this.#isThere && losses === this.#losses) this.#lose(fault);
      throw unavailable(fault);
    } finally {
      late.abort();
    }
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#probing;
    await this.#pool.end();
  }

  async #perform<Result>(client: PoolClient, steps: Steps<Result>): Promise<Result> {
    let step = steps.next();
    while (step.done !== true) step = steps.next(await this.#outcomeOf(client, step.value));
    return step.value;
  }

  async #outcomeOf(client: PoolClient, statement: Statement): Promise<Outcome> {
    if (statement === purgeNote) return { rows: [], count: 0 };
    const { sealer } = this.#parts;
    let place = 0;
    const text = statement.sql.replaceAll('?', () => `$${(place += 1)}`);
    const query: Query = async (sql, given) => (await client.query<Record<string, unknown>>(sql, [...given])).rows;
    const sealed = sealer && (await this.#withKeys(client, sealer.seal(query, statement.values)));
    const values = sealed ?? statement.values.map(plainOf);
    const { rows, rowCount } = await client.query<Record<string, unknown>>(text, values.map(storable));
    return { rows: sealer ? await this.#withKeys(client, sealer.open(rows)) : rows, count: rowCount ?? 0 };
  }

  /** Notes which of the two databases is waited for: an operator who is told of the wrong one looks there. */
  async #withKeys<Result>(client: PoolClient, sealing: Promise<Result>): Promise<Result> {
    this.#awaitingKeys.add(client);
    try {
      return await sealing;
    } finally {
      this.#awaitingKeys.delete(client);
    }
  }

  #lose(fault: unknown): void {
    this.#isThere = false;
    this.#losses += 1;
    if (this.#closed.signal.aborted) return;
    this.#parts.onChange(false, unavailable(fault));
    this.#probing ??= this.#probe().finally(() => (this.#probing = undefined));
  }

  async #probe(): Promise<void> {
    const { signal } = this.#closed;
    while (!signal.aborted) {
      await pause(probeMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      try {
        await this.use(connectMs, (client) => client.query('SELECT 1'), true);
        await this.#parts.open(this);
        this.#isThere = true;
        this.#parts.onChange(true);
        return;
      } catch {
        // The next attempt follows.
      }
    }
  }
}

/** The database or its key store cannot be reached, or does not answer. */
export class Gone extends Error {
  override readonly name = 'Gone';
}

/** Classes of SQLSTATE: connection exceptions, operator intervention, and no connections left. */
const goneStates = /^(?:08|57P|53300)/;
const goneCodes = /^(?:E[A-Z]+)$/;

/** True if the database as a whole cannot be used, rather than one statement. */
function isGone(fault: unknown): boolean {
  const cause = fault instanceof MemoryError ? fault.cause : fault;
  if (cause instanceof Gone) return true;
  if (!(cause instanceof Error)) return false;
  const code = 'code' in cause ? String(cause.code) : '';
  if (goneStates.test(code) || goneCodes.test(code)) return true;
  return code === '' && /terminated|timeout|not queryable|connection/i.test(cause.message);
}

function unavailable(fault: unknown): unknown {
  if (fault instanceof MemoryError) return fault;
  // An `AggregateError` of several addresses has no message of its own.
  const [first] = fault instanceof AggregateError ? (fault.errors as unknown[]) : [fault];
  const reason = first instanceof Error ? first.message : String(first);
  const code = first instanceof Error && 'code' in first ? ` (${String(first.code)})` : '';
  const message = `PostgreSQL cannot be used: ${reason}${code}. Check that it runs, and DRAMATIS_POSTGRES_URL (dramatis doctor).`;
  return new MemoryError('memory_unavailable', message, fault);
}

/** Replaces the only character that PostgreSQL does not store. */
function storable(value: Plain): Plain {
  return typeof value === 'string' ? value.replaceAll('\0', '\uFFFD') : value;
}

/** Number of the type `int8`. */
const int8 = 20;

/** 64-bit integers as numbers: ids, counts and times are all far below 2^53. */
const getTypeParser = ((oid: number, format: 'text') =>
  oid === int8 ? Number : types.getTypeParser(oid, format)) as typeof types.getTypeParser;
