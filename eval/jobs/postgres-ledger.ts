import { setTimeout as wait } from 'node:timers/promises';
import { endedStayMs, refusalStayMs, type RunLedger } from './ledger.ts';
import type { RunFacts } from './run-facts.ts';

/** Schema of all tables, also of those of the queues. */
export const schema = 'dramatis_jobs';

/** A query with its parameters: `$1`, `$2` and so on. */
export type Query = (
  text: string,
  values?: readonly unknown[],
) => Promise<{ readonly rows: readonly Readonly<Record<string, unknown>>[]; readonly rowCount: number | null }>;

/** Two processes that start at once must not both create the tables. */
const createLock = 8_427_351;

const tables = `
BEGIN;
SELECT pg_advisory_xact_lock(${createLock});
CREATE TABLE IF NOT EXISTS ${schema}.run (
  id text PRIMARY KEY, facts text, until timestamptz, ended_until timestamptz, spent double precision NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS ${schema}.turn (
  run text NOT NULL, endpoint text NOT NULL, start_ms double precision NOT NULL, PRIMARY KEY (run, endpoint));
CREATE TABLE IF NOT EXISTS ${schema}.refusal (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, run text NOT NULL, reason text NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp());
COMMIT`;

const later = (parameter: number): string => `clock_timestamp() + $${parameter} * interval '1 millisecond'`;
const nowMs = `(SELECT extract(epoch FROM clock_timestamp())::float8 * 1000)`;

/** The ledger in PostgreSQL 14 or later. Creates its tables. */
export async function postgresLedger(query: Query): Promise<RunLedger> {
  await query(tables);
  return { ...runsIn(query), ...costsAndTurnsIn(query), ...refusalsIn(query), clear: (id) => clear(query, id) };
}

const [run, turn, refusal] = ['run', 'turn', 'refusal'].map((table) => `${schema}.${table}`);

function runsIn(query: Query): Pick<RunLedger, 'announce' | 'renew' | 'withdraw' | 'hasEnded' | 'runs'> {
  return {
    async announce(facts) {
      await query(
        `INSERT INTO ${run} (id, facts, until) VALUES ($1, $2, ${later(3)})
         ON CONFLICT (id) DO UPDATE SET facts = excluded.facts, until = excluded.until`,
        [facts.id, JSON.stringify(facts), facts.leaseMs],
      );
      await query(`DELETE FROM ${run} WHERE facts IS NULL AND coalesce(ended_until, '-infinity') < clock_timestamp()`);
    },
    async renew({ id, leaseMs }) {
      const isLive = 'facts IS NOT NULL AND until > clock_timestamp()';
      return (
        (await query(`UPDATE ${run} SET until = ${later(2)} WHERE id = $1 AND ${isLive}`, [id, leaseMs])).rowCount === 1
      );
    },
    async withdraw(id, { isWhole }) {
      await query(`UPDATE ${run} SET facts = NULL, ended_until = ${later(2)} WHERE id = $1`, [
        id,
        isWhole ? endedStayMs : 0,
      ]);
    },
    async hasEnded(id) {
      const { rows } = await query(`SELECT 1 FROM ${run} WHERE id = $1 AND ended_until > clock_timestamp()`, [id]);
      return rows.length > 0;
    },
    async runs() {
      const { rows } = await query(`SELECT facts FROM ${run} WHERE facts IS NOT NULL AND until > clock_timestamp()`);
      return rows.map(({ facts }) => JSON.parse(String(facts)) as RunFacts);
    },
  };
}

function costsAndTurnsIn(query: Query): Pick<RunLedger, 'spend' | 'raiseSpent' | 'reserve' | 'rest'> {
  return {
    async spend(id, dollars) {
      const { rows } = await query(
        `INSERT INTO ${run} AS kept (id, spent) VALUES ($1, $2)
         ON CONFLICT (id) DO UPDATE SET spent = kept.spent + excluded.spent RETURNING spent`,
        [id, dollars],
      );
      return Number(rows[0]?.['spent']);
    },
    async raiseSpent(id, dollars) {
      await query(
        `INSERT INTO ${run} AS kept (id, spent) VALUES ($1, $2)
         ON CONFLICT (id) DO UPDATE SET spent = greatest(kept.spent, excluded.spent)`,
        [id, dollars],
      );
    },
    async reserve(id, endpoint, gapMs) {
      const { rows } = await query(
        `INSERT INTO ${turn} AS kept (run, endpoint, start_ms) VALUES ($1, $2, ${nowMs} + $3)
         ON CONFLICT (run, endpoint) DO UPDATE SET start_ms = greatest(${nowMs}, kept.start_ms) + $3
         RETURNING start_ms - $3 - ${nowMs} AS wait_ms`,
        [id, endpoint, Math.ceil(gapMs)],
      );
      return Math.max(0, Math.round(Number(rows[0]?.['wait_ms'])));
    },
    async rest(id, endpoint, ms) {
      await query(
        `INSERT INTO ${turn} AS kept (run, endpoint, start_ms) VALUES ($1, $2, ${nowMs} + $3)
         ON CONFLICT (run, endpoint) DO UPDATE SET start_ms = greatest(excluded.start_ms, kept.start_ms)`,
        [id, endpoint, Math.ceil(ms)],
      );
    },
  };
}

function refusalsIn(query: Query): Pick<RunLedger, 'refuse' | 'nextRefusal'> {
  return {
    async refuse(id, reason) {
      await query(`DELETE FROM ${refusal} WHERE at < clock_timestamp() - $1 * interval '1 millisecond'`, [
        refusalStayMs,
      ]);
      await query(`INSERT INTO ${refusal} (run, reason) VALUES ($1, $2)`, [id, reason]);
    },
    async nextRefusal(id) {
      const oldest = `SELECT id FROM ${refusal} WHERE run = $1 ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED`;
      const { rows } = await query(`DELETE FROM ${refusal} WHERE id = (${oldest}) RETURNING reason`, [id]);
      return rows[0] === undefined ? null : String(rows[0]['reason']);
    },
  };
}

async function clear(query: Query, id: string): Promise<void> {
  await query(`DELETE FROM ${turn} WHERE run = $1`, [id]);
  await query(`DELETE FROM ${refusal} WHERE run = $1`, [id]);
  await query(`UPDATE ${run} SET spent = 0 WHERE id = $1`, [id]);
}

/** A command that PostgreSQL did not take is tried again after this time. */
const againMs = 250;
/** PostgreSQL's codes for a server that stops, or is not ready yet (class 57P); those of a broken connection (class 08). */
const awayCodes = /^(?:57P0[123]|08\w{3}|ECONN\w+|EPIPE|ETIMEDOUT)$/;

/** Does it again for as long as PostgreSQL is away. */
export async function persist<Result>(
  command: () => Promise<Result>,
  onFault: (fault: Error) => void,
): Promise<Result> {
  for (;;) {
    try {
      return await command();
    } catch (fault) {
      if (!isAway(fault)) throw fault;
      onFault(fault);
      await wait(againMs);
    }
  }
}

function isAway(fault: unknown): fault is Error {
  if (!(fault instanceof Error)) return false;
  const { code = '' } = fault as { readonly code?: string };
  return awayCodes.test(code) || /^(?:Connection terminated|timeout exceeded)/i.test(fault.message);
}
