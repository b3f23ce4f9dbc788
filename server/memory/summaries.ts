import type { ChatModel } from '../../agents/chat.ts';
import {
  extractiveSummary,
  readSummary,
  summaryPrompt,
  type PastTurn,
  type Summary,
} from '../../agents/memory/summary.ts';
import { usualHistoryTokens } from '../../agents/talk-window.ts';
import { estimateTokens } from '../../agents/token-estimate.ts';
import type { Bond } from './record.ts';
import type { MemoryStore } from './store.ts';

export interface SummariesParts {
  readonly store: MemoryStore;
  /** Sums up; without one, and where it fails, the user's own sentences do. */
  readonly chatModel: ChatModel | undefined;
  /** What a character is called. */
  readonly nameOf: (character: string) => string;
  readonly now: () => number;
  readonly onFault: (fault: unknown) => void;
}

/** Sums up the talks of each person and character, one at a time for each. */
export interface Summaries {
  /** A turn was kept: where more is not summed up than a prompt holds, the older half of it is, in the background. */
  consider(bond: Bond): void;
  /** Settles when all that is under way is done. */
  settled(): Promise<void>;
  /** Gives up what is under way; what is not summed up yet is when its person talks again. */
  close(): Promise<void>;
}

/** How long a model may think about a summary. */
const longestMs = 60_000;
const maxTokens = 900;
/** Turns in one prompt at most: what is left waits for the next turn. */
const mostTurns = 100;

export function openSummaries({ store, chatModel, nameOf, now, onFault }: SummariesParts): Summaries {
  const running = new Map<string, Promise<void>>();
  const stop = new AbortController();

  async function sumUp(bond: Bond): Promise<void> {
    const { version } = store;
    const turns = outgrown(store.unsummarised(bond));
    if (turns.length === 0) return;
    const before = store.summary(bond);
    const made = await summaryOf(nameOf(bond.character), before, turns);
    if (stop.signal.aborted) return;
    store.summarise(bond, { version, ...made, turns: turns.map(({ id }) => id), atMs: now() });
  }

  async function summaryOf(name: string, before: string, turns: readonly PastTurn[]): Promise<Summary> {
    if (chatModel === undefined) return extractiveSummary(before, turns);
    try {
      let answer = '';
      const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(longestMs)]);
      for await (const part of chatModel.chat(summaryPrompt(name, before, turns), {
        signal,
        temperature: 0,
        maxTokens,
      }))
        if (part.type === 'text-delta') answer += part.text;
      return readSummary(answer, turns) ?? extractiveSummary(before, turns);
    } catch (fault) {
      if (!stop.signal.aborted) onFault(fault);
      return extractiveSummary(before, turns);
    }
  }

  const settled = async (): Promise<void> => void (await Promise.all(running.values()));

  return {
    consider(bond) {
      const key = JSON.stringify(bond);
      if (running.has(key) || stop.signal.aborted) return;
      running.set(
        key,
        sumUp(bond)
          .catch(onFault)
          .finally(() => running.delete(key)),
      );
    },
    settled,
    async close() {
      stop.abort();
      await settled();
    },
  };
}

/** The older half of the turns that no summary holds, once all of them are more than a prompt holds. */
function outgrown<Turn extends PastTurn>(turns: readonly Turn[]): readonly Turn[] {
  const costs = turns.map(({ asked, answered }) => estimateTokens(`${asked}${answered}`));
  let left = costs.reduce((sum, cost) => sum + cost, 0);
  if (left <= usualHistoryTokens) return [];
  const until = costs.findIndex((cost) => (left -= cost) <= usualHistoryTokens / 2);
  return turns.slice(0, Math.min(mostTurns, until + 1));
}
