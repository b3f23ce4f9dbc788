import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { ChatModel } from '../../../agents/chat.ts';
import { openRecall } from '../../../server/memory/recall.ts';
import type { MemoryStore } from '../../../server/memory/store/store.ts';
import { openSummaries } from '../../../server/memory/summaries.ts';
import { Preempted } from '../../../voices/calls/limiter.ts';
import { EngineError } from '../../../voices/engine.ts';
import { besides, bond, newStore } from '../../rigs/memory-rig.ts';

const user = (text: string) => ({ role: 'user', text }) as const;

/** A store in which Bob has told Alice this. */
function storeOf(said: readonly string[], session = 's', store = newStore()): MemoryStore {
  for (const [index, asked] of said.entries())
    store.record(bond, { session, item: `i${index}`, asked, answered: '' }, [], 0);
  return store;
}

describe('summaries', () => {
  const long = (index: number): string =>
    `Part ${index} of my story is about island ${index}. ${'And so on, and on. '.repeat(20)}`;
  const saga = Array.from({ length: 20 }, (_, index) => long(index));
  const nameOf = (): string => 'Alice';

  async function sumUp(store: MemoryStore, chatModel?: ChatModel, onFault: (fault: unknown) => void = () => undefined) {
    const summaries = openSummaries({ store: besides(store), chatModel, nameOf, now: () => 0, onFault });
    summaries.consider(bond);
    await summaries.settled();
    await summaries.close();
  }

  it('summarizes the older half of a long history with the LLM, on top of the summary so far', async () => {
    const store = storeOf(saga);
    const prompts: string[] = [];
    const chatModel: ChatModel = {
      name: 'summing',
      async *chat(messages) {
        prompts.push(messages.at(-1)?.text ?? '');
        const answer = { summary: `Summary ${prompts.length}.`, facts: [{ turn: 1, text: 'Has been to an island.' }] };
        yield { type: 'text-delta', text: JSON.stringify(answer) };
        yield { type: 'chat-end', reason: 'stop', inputTokens: 1, outputTokens: 1 };
      },
    };
    await sumUp(store, chatModel);
    expect(store.summary(bond)).toBe('Summary 1.');
    expect(store.list(bond)).toMatchObject([
      { kind: 'summary' },
      { kind: 'fact', source: 't1' },
      ...saga.map(() => ({})),
    ]);
    const left = store.unsummarised(bond);
    expect(left.length).toBeGreaterThan(2);
    expect(left.length).toBeLessThan(saga.length);
    // No summary is made below the budget.
    await sumUp(store, chatModel);
    expect(prompts).toHaveLength(1);
    storeOf(saga, 'later', store);
    await sumUp(store, chatModel);
    expect(prompts.at(-1)).toContain('Summary so far: "Summary 1."');
    expect(store.summary(bond)).toBe('Summary 2.');
    expect((await openRecall(besides(store), bond, () => 0)([user('Well?')]))[0]).toBe(
      'Of your talks so far: Summary 2.',
    );
  });

  it('summarizes by picked sentences if there is no LLM', async () => {
    const store = storeOf(saga);
    await sumUp(store);
    expect(store.summary(bond)).toMatch(/Part \d+ of my story is about island \d+\./);
  });

  it('postpones the summary if the LLM fails or is busy, until the history is far too long', async () => {
    for (const failure of [new EngineError('failing', 'ENGINE_UNAVAILABLE', 'down'), new Preempted('wanted')]) {
      const faults: unknown[] = [];
      const failing: ChatModel = {
        name: 'failing',
        // eslint-disable-next-line require-yield
        async *chat() {
          throw failure;
        },
      };
      const store = storeOf(saga);
      await sumUp(store, failing, (fault) => faults.push(fault));
      expect(store.summary(bond)).toBe('');
      expect(store.unsummarised(bond)).toHaveLength(saga.length);
      storeOf([...saga, ...saga], 'later', store);
      await sumUp(store, failing, (fault) => faults.push(fault));
      expect(store.summary(bond)).toMatch(/Part \d+ of my story is about island \d+\./);
      // The call log reports it.
      expect(faults).toEqual([]);
    }
  });

  it('retries a failed summary after a minute or at the end of a session', async () => {
    const store = storeOf(saga);
    let [nowMs, asked] = [0, 0];
    const chatModel: ChatModel = {
      name: 'failing',
      // eslint-disable-next-line require-yield
      async *chat() {
        asked += 1;
        throw new Preempted('wanted');
      },
    };
    const parts = { store: besides(store), chatModel, nameOf, now: () => nowMs, onFault: () => undefined };
    const summaries = openSummaries(parts);
    const consider = async (hasEnded = false): Promise<void> => {
      summaries.consider(bond, hasEnded);
      await summaries.settled();
    };
    await consider();
    await consider();
    expect(asked).toBe(1);
    await consider(true);
    expect(asked).toBe(2);
    nowMs = 60_000;
    await consider();
    expect(asked).toBe(3);
  });

  it('aborts a running summary when the server stops and loses nothing', async () => {
    const store = storeOf(saga);
    const begun = Promise.withResolvers<void>();
    const chatModel: ChatModel = {
      name: 'slow',
      // eslint-disable-next-line require-yield
      async *chat(_messages, { signal }) {
        begun.resolve();
        await once(signal, 'abort');
        throw signal.reason;
      },
    };
    const summaries = openSummaries({ store: besides(store), chatModel, nameOf, now: () => 0, onFault: fail });
    summaries.consider(bond);
    await begun.promise;
    await summaries.close();
    expect(store.unsummarised(bond)).toHaveLength(saga.length);
    await sumUp(store);
    expect(store.summary(bond)).not.toBe('');
  });
});

function fail(fault: unknown): never {
  throw fault;
}
