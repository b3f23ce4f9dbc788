import { GaveWay } from '../../voices/calls/limiter.ts';
import { EngineError } from '../../voices/engine.ts';
import type { ChatModel } from '../../agents/chat.ts';
import { extractiveSummary, readSummary, summaryPrompt, type Summary } from '../../agents/memory/summary.ts';
import type { Bond } from './record.ts';
import type { StoreThread } from './store-thread.ts';
import type { Outgrown } from './summing.ts';

export interface SummariesParts {
  readonly store: Pick<StoreThread, 'outgrown' | 'summarise'>;
  /** Sums up, where nobody who talks wants it; without one the user's own sentences do. */
  readonly chatModel: ChatModel | undefined;
  /** What a character is called. */
  readonly nameOf: (character: string) => string;
  /** Unix time in milliseconds. */
  readonly now: () => number;
  readonly onFault: (fault: unknown) => void;
}

/** Sums up the talks of each person and character, one at a time for each. */
export interface Summaries {
  /**
   * Where more is not summed up than a prompt holds, the older half of it is, in the background. What the model cannot do now, since
   * it fails or others want it, is tried again a minute later at the soonest, or at once when a talk has ended.
   */
  consider(bond: Bond, hasEnded?: boolean): void;
  /** Settles when all that is under way is done. */
  settled(): Promise<void>;
  /** Gives up what is under way; what is not summed up yet is when its person talks again. */
  close(): Promise<void>;
}

/** How long a model may think about a summary. */
const longestMs = 60_000;
const maxTokens = 900;
/** How long it is left alone after a summary that did not come about: each costs its prompt. */
const restMs = 60_000;
/** Where so many prompts wait to be summed up, the model is waited for no longer. */
const mostBacklog = 4;

export function openSummaries({ store, chatModel, nameOf, now, onFault }: SummariesParts): Summaries {
  const running = new Map<string, Promise<void>>();
  /** Until when each is left alone. */
  const resting = new Map<string, number>();
  const stop = new AbortController();

  async function sumUp(bond: Bond, key: string): Promise<void> {
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

  /** Undefined where the model is to be asked another time. */
  async function summaryOf(name: string, outgrown: Outgrown): Promise<Summary | undefined> {
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
      // Of its engine's failures the log tells with each call.
      if (!(fault instanceof GaveWay) && !(fault instanceof EngineError)) onFault(fault);
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
