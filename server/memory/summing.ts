import type { PastTurn } from '../../agents/memory/summary.ts';
import { usualHistoryTokens } from '../../agents/prompting/talk-window.ts';
import { estimateTokens } from '../../agents/llm/token-estimate.ts';
import type { Database } from './database.ts';
import type { Bond, FoundFact } from './record.ts';
import { ofBond, type TurnRow } from './rows.ts';

/** What is to be summed up next. */
export interface Outgrown {
  /** The summary so far; empty where there is none. */
  readonly before: string;
  readonly turns: readonly PastTurn[];
  /** What its person has set right of themselves: it outranks the turns. */
  readonly corrected: readonly string[];
  /** All that is not summed up, in prompts: more than 1. */
  readonly backlog: number;
}

/** A summary that was made of what had outgrown a prompt. */
export interface MadeSummary extends Pick<Outgrown, 'before' | 'turns'> {
  readonly text: string;
  readonly facts: readonly (FoundFact & { readonly turn: number })[];
  readonly atMs: number;
}

/** Turns in one prompt at most. */
const mostTurns = 100;
const mostCorrected = 20;

/** The turns that no summary holds yet, oldest first. */
export function unsummarisedIn(database: Database, { owner, user, character }: Bond): readonly TurnRow[] {
  return database.all(`SELECT * FROM turns WHERE ${ofBond} AND summarised = 0 ORDER BY id`, owner, user, character);
}

/** What a character remembers of earlier talks as a whole; empty where that is nothing yet. */
export function summaryIn(database: Database, { owner, user, character }: Bond): string {
  const row = database.get(`SELECT text FROM summaries WHERE ${ofBond}`, owner, user, character);
  return typeof row?.['text'] === 'string' ? row['text'] : '';
}

/** The older half of the turns that no summary holds, once all of them are more than a prompt holds; undefined until then. */
export function outgrownIn(database: Database, bond: Bond): Outgrown | undefined {
  const waiting = unsummarisedIn(database, bond);
  const costs = waiting.map(({ asked, answered }) => estimateTokens(`${asked}${answered}`));
  let left = costs.reduce((sum, cost) => sum + cost, 0);
  const backlog = left / usualHistoryTokens;
  if (backlog <= 1) return undefined;
  const until = costs.findIndex((cost) => (left -= cost) <= usualHistoryTokens / 2);
  const turns = waiting.slice(0, Math.min(mostTurns, until + 1));
  const { owner, user, character } = bond;
  const sql = `SELECT text FROM facts WHERE ${ofBond} AND corrected = 1 ORDER BY id DESC LIMIT ${mostCorrected}`;
  return {
    before: summaryIn(database, bond),
    turns: turns.map(({ id, asked, answered }) => ({ id, asked, answered })),
    corrected: database.all<{ text: string }>(sql, owner, user, character).map(({ text }) => text),
    backlog,
  };
}

/** Whether a summary is still true to what it was made of: nothing of it was corrected or deleted meanwhile. */
export function isCurrentIn(database: Database, bond: Bond, { before, turns }: MadeSummary): boolean {
  const { owner, user, character } = bond;
  const sql = `SELECT 1 FROM turns WHERE ${ofBond} AND id = ? AND asked = ? AND answered = ?`;
  return (
    summaryIn(database, bond) === before &&
    turns.every(({ id, asked, answered }) => database.get(sql, owner, user, character, id, asked, answered))
  );
}

/** Those of the found facts whose turns no facts were read of before: what was deleted or corrected since does not come back. */
export function freshFactsIn(database: Database, { facts, turns }: MadeSummary): MadeSummary['facts'] {
  const fresh = new Set(
    turns
      .filter(({ id }) => database.get('SELECT 1 FROM turns WHERE id = ? AND extracted = 0', id))
      .map(({ id }) => id),
  );
  return facts.filter(({ turn }) => fresh.has(turn));
}
