import type { PastTurn } from '../../../agents/memory/summary.ts';
import { usualHistoryTokens } from '../../../agents/prompting/talk-window.ts';
import { estimateTokens } from '../../../agents/llm/token-estimate.ts';
import type { MemoryKey, FoundFact } from './record.ts';
import { ofMemoryKey, type TurnRow } from './rows.ts';
import { all, get, type Steps } from './steps.ts';

/** Turns to be summarized next, with their context. */
export interface SummaryInput {
  /** The summary so far; empty if there is none. */
  readonly before: string;
  readonly turns: readonly PastTurn[];
  /** Facts that the user has corrected; they take precedence over the turns. */
  readonly corrected: readonly string[];
  /** Size of all turns not summarized yet, in prompts: more than 1. */
  readonly backlog: number;
}

/** A summary of turns that no longer fit in a prompt. */
export interface NewSummary extends Pick<SummaryInput, 'before' | 'turns'> {
  readonly text: string;
  readonly facts: readonly (FoundFact & { readonly turn: number })[];
  readonly atMs: number;
}

const mostTurns = 100;
const mostCorrected = 20;

/** Returns the turns not summarized yet, oldest first. */
export function* unsummarisedIn({ owner, user, character }: MemoryKey): Steps<readonly TurnRow[]> {
  const sql = `SELECT * FROM turns WHERE ${ofMemoryKey} AND summarised = 0 ORDER BY id`;
  return yield* all<TurnRow>(sql, owner, user, character);
}

/** Returns the summary of earlier conversations; empty if there is none yet. */
export function* summaryIn({ owner, user, character }: MemoryKey): Steps<string> {
  const row = yield* get(`SELECT text FROM summaries WHERE ${ofMemoryKey}`, owner, user, character);
  return typeof row?.['text'] === 'string' ? row['text'] : '';
}

/** Returns the older half of the unsummarized turns once they no longer fit in a prompt; undefined until then. */
export function* nextSummaryInputIn(bond: MemoryKey): Steps<SummaryInput | undefined> {
  const waiting = yield* unsummarisedIn(bond);
  const costs = waiting.map(({ asked, answered }) => estimateTokens(`${asked}${answered}`));
  let left = costs.reduce((sum, cost) => sum + cost, 0);
  const backlog = left / usualHistoryTokens;
  if (backlog <= 1) return undefined;
  const until = costs.findIndex((cost) => (left -= cost) <= usualHistoryTokens / 2);
  const turns = waiting.slice(0, Math.min(mostTurns, until + 1));
  const { owner, user, character } = bond;
  const sql = `SELECT text FROM facts WHERE ${ofMemoryKey} AND corrected = 1 ORDER BY id DESC LIMIT ${mostCorrected}`;
  const corrected = yield* all<{ text: string }>(sql, owner, user, character);
  return {
    before: yield* summaryIn(bond),
    turns: turns.map(({ id, asked, answered }) => ({ id, asked, answered })),
    corrected: corrected.map(({ text }) => text),
    backlog,
  };
}

/** Returns true if nothing a summary was made of was corrected or deleted in the meantime. */
export function* isCurrentIn(bond: MemoryKey, { before, turns }: NewSummary): Steps<boolean> {
  if ((yield* summaryIn(bond)) !== before) return false;
  const { owner, user, character } = bond;
  const sql = `SELECT asked, answered FROM turns WHERE ${ofMemoryKey} AND id = ?`;
  for (const { id, asked, answered } of turns) {
    const kept = yield* get(sql, owner, user, character, id);
    if (kept?.['asked'] !== asked || kept['answered'] !== answered) return false;
  }
  return true;
}

/** Returns the facts of turns that had no extraction before: deleted or corrected facts do not come back. */
export function* freshFactsIn({ facts, turns }: NewSummary): Steps<NewSummary['facts']> {
  const fresh = new Set<number>();
  for (const { id } of turns)
    if ((yield* get('SELECT 1 FROM turns WHERE id = ? AND extracted = 0', id)) !== undefined) fresh.add(id);
  return facts.filter(({ turn }) => fresh.has(turn));
}
