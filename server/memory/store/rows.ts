import { MemoryError, type MemoryRecord } from './record.ts';

/** SQL condition for the memories of a user; takes two values. */
export const ofUser = 'owner = ? AND "user" = ?';
/** SQL condition for the memories that one character has of a user; takes three values. */
export const ofMemoryKey = `${ofUser} AND character = ?`;

interface Row {
  readonly id: number;
  readonly character: string;
  /** Unix time in milliseconds. */
  readonly at: number;
}

export interface TurnRow extends Row {
  readonly session: string;
  readonly asked: string;
  readonly answered: string;
}

export interface FactRow extends Row {
  readonly turn: number | null;
  readonly text: string;
  readonly corrected: number;
}

export type SummaryRow = Omit<FactRow, 'turn'>;

/** Converts a turn to the record shown to its user. */
function turnRecord({ id, character, at, session, asked, answered }: TurnRow): MemoryRecord {
  return { id: `t${id}`, kind: 'turn', character, at: isoOf(at), session, asked, answered };
}

/** Converts a fact to the record shown to its user. */
function factRecord({ id, character, at, turn, text, corrected }: FactRow): MemoryRecord {
  const source = turn === null ? null : `t${turn}`;
  return { id: `f${id}`, kind: 'fact', character, at: isoOf(at), text, source, corrected: corrected === 1 };
}

/** Converts a summary to the record shown to its user. */
function summaryRecord({ id, character, at, text, corrected }: SummaryRow): MemoryRecord {
  return { id: `s${id}`, kind: 'summary', character, at: isoOf(at), text, corrected: corrected === 1 };
}

/** Converts a row of a table to the record shown to its user. */
export const recordOf = { turns: turnRecord, facts: factRecord, summaries: summaryRecord } as const;

const tables = { t: 'turns', f: 'facts', s: 'summaries' } as const;

/** Returns the id of a memory, as its user sees it. */
export function idOf(table: keyof typeof recordOf, row: number): string {
  return `${table.charAt(0)}${row}`;
}

/** Returns the table and row number of a memory id. Throws `MemoryError` if the id is invalid. */
export function partsOf(id: string): { readonly table: (typeof tables)[keyof typeof tables]; readonly number: number } {
  const [, letter, digits] = /^([tfs])(\d{1,15})$/.exec(id) ?? [];
  if (letter === undefined) throw notFound(id);
  return { table: tables[letter as keyof typeof tables], number: Number(digits) };
}

export function notFound(id: string): MemoryError {
  return new MemoryError('memory_not_found', `There is no memory "${id.slice(0, 32)}".`);
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}
