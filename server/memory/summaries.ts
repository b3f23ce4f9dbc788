import { Preempted } from '../../voices/calls/limiter.ts';
import { EngineError } from '../../voices/engine.ts';
import type { ChatModel } from '../../agents/chat.ts';
import { extractiveSummary, readSummary, summaryPrompt, type Summary } from '../../agents/memory/summary.ts';
import type { MemoryKey } from './store/record.ts';
import type { AsyncStore } from './store/operations.ts';
import type { SummaryInput } from './store/summary-queries.ts';

export interface SummariesParts {
  readonly store: Pick<AsyncStore, 'outgrown' | 'summarise'>;
  /** LLM that writes summaries, at background priority; without one, they are the user's own sentences. */
  readonly chatModel: ChatModel | undefined;
  readonly nameOf: (character: string) => string;
  /** Unix time in milliseconds. */
  readonly now: () => number;
  readonly onFault: (fault: unknown) => void;
}

/** Summarizes the conversations of each user and character, one summary at a time for each pair. */
export interface Summaries {
  /**
   * Summarizes, in the background, the older half of the turns once they no longer fit in a prompt. If the LLM fails or
   * is busy with replies, retries after a minute at the earliest, or at once when a conversation has ended.
   */
  consider(bond: MemoryKey, hasEnded?: boolean): void;
  /** Settles when all running summaries are done. */
  settled(): Promise<void>;
  /** Aborts running summaries; they are made when the user talks to the character again. */
  close(): Promise<void>;
}

/** Timeout of the LLM for one summary. */
const longestMs = 60_000;
const maxTokens = 900;
/** Pause after a failed summary: each attempt costs a whole prompt. */
const restMs = 60_000;
/** Backlog, in prompts, above which an extractive summary is made if the LLM fails. */
const mostBacklog = 4;

export function openSummaries({ store, chatModel, nameOf, now, onFault }: SummariesParts): Summaries {
  const running = new Map<string, Promise<void>>();
  /** End of the pause for each pair. */
  const resting = new Map<string, number>();
  const stop = new AbortController();

  async function sumUp(bond: MemoryKey, key: string): Promise<void> {
    for (;;) {
      const outgrown = await store.outgrown(bond);
      if (outgrown === undefined || stop.signal.aborted) return;
      const made = await summaryOf(nameOf(bond.character), outgrown);
      if (stop.signal.aborted) return;
      if (made === undefined) {
        for (const [other, untilMs] of resting) if (untilMs <= now()) resting.delete(other);
        resting.set(key, now() + restMs);
        return;
      }
      const { before, turns } = outgrown;
      await store.summarise(bond, { ...made, before, turns, atMs: now() });
    }
  }

  /** Returns the summary, or undefined if the LLM is to be called again later. */
  async function summaryOf(name: string, outgrown: SummaryInput): Promise<Summary | undefined> {
    const { before, turns, backlog } = outgrown;
    const extracted = (): Summary => extractiveSummary(before, turns);
    if (chatModel === undefined) return extracted();
    try {
      let answer = '';
      const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(longestMs)]);
      const settings = { signal, temperature: 0, maxTokens, background: true };
      for await (const part of chatModel.chat(summaryPrompt(name, outgrown), settings))
        if (part.type === 'text-delta') answer += part.text;
      return readSummary(answer, turns) ?? extracted();
    } catch (fault) {
      if (stop.signal.aborted) return undefined;
      // Engine failures are already logged with each call.
      if (!(fault instanceof Preempted) && !(fault instanceof EngineError)) onFault(fault);
      return backlog > mostBacklog ? extracted() : undefined;
    }
  }

  const settled = async (): Promise<void> => void (await Promise.all(running.values()));

  return {
    consider(bond, hasEnded = false) {
      const key = JSON.stringify(bond);
      if (running.has(key) || stop.signal.aborted) return;
      if (!hasEnded && (resting.get(key) ?? 0) > now()) return;
      running.set(
        key,
        sumUp(bond, key)
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
