import { MemoryError, type MemoryRecord } from './record.ts';

/** What is of a person, as a condition with two values. */
export const ofPerson = 'owner = ? AND user = ?';
/** What a character remembers of them, with three. */
export const ofBond = `${ofPerson} AND character = ?`;

interface Row {
  readonly id: number;
  readonly character: string;
  /** Unix time in milliseconds. */
  readonly at: number;
}

/** A turn as its table keeps it. */
export interface TurnRow extends Row {
  readonly session: string;
  readonly asked: string;
  readonly answered: string;
}

/** A fact likewise. */
export interface FactRow extends Row {
  readonly turn: number | null;
  readonly text: string;
  readonly corrected: number;
}

/** A summary likewise. */
export type SummaryRow = Omit<FactRow, 'turn'>;

/** A turn as its person may read it. */
export function turnRecord({ id, character, at, session, asked, answered }: TurnRow): MemoryRecord {
  return { id: `t${id}`, kind: 'turn', character, at: isoOf(at), session, asked, answered };
}

/** A fact likewise. */
export function factRecord({ id, character, at, turn, text, corrected }: FactRow): MemoryRecord {
  const source = turn === null ? null : `t${turn}`;
  return { id: `f${id}`, kind: 'fact', character, at: isoOf(at), text, source, corrected: corrected === 1 };
}

/** A summary likewise. */
export function summaryRecord({ id, character, at, text, corrected }: SummaryRow): MemoryRecord {
  return { id: `s${id}`, kind: 'summary', character, at: isoOf(at), text, corrected: corrected === 1 };
}

const tables = { t: 'turns', f: 'facts', s: 'summaries' } as const;

/** Where the memory of an id stands. Throws `MemoryError` where it is no id. */
export function partsOf(id: string): { readonly table: (typeof tables)[keyof typeof tables]; readonly number: number } {
  const [, letter, digits] = /^([tfs])(\d{1,15})$/.exec(id) ?? [];
  if (letter === undefined) throw notFound(id);
  return { table: tables[letter as keyof typeof tables], number: Number(digits) };
}

/** There is no memory of this id. */
export function notFound(id: string): MemoryError {
  return new MemoryError('memory_not_found', `There is no memory "${id.slice(0, 32)}".`);
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}
