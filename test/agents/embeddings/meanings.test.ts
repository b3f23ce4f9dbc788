import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Embedder } from '../../../agents/embeddings/embedder.ts';
import { cosineSimilarity, unitOf } from '../../../agents/embeddings/embedder.ts';
import { longestWaitMs, openSharedEmbedder } from '../../../agents/embeddings/shared-embedder.ts';
import { openEmbeddingIndex } from '../../../agents/embeddings/embedding-index.ts';
import { openMemoryIndex } from '../../../agents/memory/memory-index.ts';
import { createCircuitBreaker } from '../../../voices/calls/circuit-breaker.ts';
import { EngineError } from '../../../voices/engine.ts';
import { seededRandom } from '../../bench/agents/large-pack.ts';

const { signal } = new AbortController();

/** Records its calls; `answer` may replace the default of one vector per text. */
function fakeEmbedder(answer: (signal: AbortSignal) => Promise<void> = async () => undefined) {
  const asked: (readonly string[])[] = [];
  const embedder: Embedder = {
    name: 'fake',
    model: 'fake',
    async embed(texts, options) {
      asked.push(texts);
      await answer(options.signal);
      return texts.map((text) => Float32Array.of(text.length, 1));
    },
  };
  return { asked, meanings: (circuit = createCircuitBreaker()) => openSharedEmbedder(embedder, circuit) };
}

/** Returns only when it is aborted. */
async function never(until: AbortSignal): Promise<void> {
  await new Promise((_resolve, reject) => until.addEventListener('abort', () => reject(until.reason)));
}

describe('embedding of a user message', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  it('a user message is embedded once for all callers, concurrent or later', async () => {
    const { asked, meanings } = fakeEmbedder();
    const opened = meanings();
    const [left, right] = await Promise.all([
      opened.embeddingOf('Rain?', { signal }),
      opened.embeddingOf('Rain?', { signal }),
    ]);
    expect(left).toBe(right);
    expect(await opened.embeddingOf('Rain?', { signal })).toBe(left);
    expect(asked).toEqual([['Rain?']]);
  });

  it('no caller waits for an embedding longer than the limit, and a slow embedder is then skipped for a while', async () => {
    let nowMs = 0;
    const { asked, meanings } = fakeEmbedder(never);
    const opened = meanings(createCircuitBreaker({ now: () => nowMs }));
    for (const remark of ['One', 'Two']) {
      const point = opened.embeddingOf(remark, { signal });
      const second = opened.embeddingOf(remark, { signal });
      await vi.advanceTimersByTimeAsync(longestWaitMs);
      expect(await Promise.all([point, second])).toEqual([undefined, undefined]);
    }
    expect(await opened.embeddingOf('Three', { signal })).toBeUndefined();
    expect(asked).toHaveLength(2);
    nowMs = 30_000;
    const tried = opened.embeddingOf('Four', { signal });
    await vi.advanceTimersByTimeAsync(longestWaitMs);
    expect(await tried).toBeUndefined();
    expect(asked).toHaveLength(3);
  });

  it('a failed embedding is undefined and is requested again next time', async () => {
    let isDown = true;
    const { meanings } = fakeEmbedder(async () => {
      if (isDown) throw new EngineError('fake', 'ENGINE_UNAVAILABLE', 'down');
    });
    const opened = meanings();
    expect(await opened.embeddingOf('Rain?', { signal })).toBeUndefined();
    isDown = false;
    expect(await opened.embeddingOf('Rain?', { signal })).toBeDefined();
  });

  it('a caller that stops waiting returns at once, and the embedding is kept for the next caller', async () => {
    const leave = new AbortController();
    const answered = Promise.withResolvers<void>();
    const { asked, meanings } = fakeEmbedder(() => answered.promise);
    const opened = meanings();
    const point = opened.embeddingOf('Rain?', { signal: leave.signal });
    leave.abort(new Error('gone'));
    await expect(point).rejects.toThrow('gone');
    answered.resolve();
    expect(await opened.embeddingOf('Rain?', { signal })).toBeDefined();
    expect(asked).toHaveLength(1);
  });
});

describe('embeddings of stored texts', () => {
  it('stored texts are embedded in batches, and the owners take turns', async () => {
    const { asked, meanings } = fakeEmbedder(() => turn());
    const opened = meanings();
    const many = Array.from({ length: 130 }, (_, index) => `line ${index}`);
    const [points, few] = await Promise.all([opened.embed(many, { signal }), opened.embed(['memory'], { signal })]);
    expect(points).toHaveLength(130);
    expect(few).toHaveLength(1);
    expect(asked.map((texts) => texts.length)).toEqual([64, 1, 64, 2]);
  });

  it('closing the server abandons the embedding of stored texts', async () => {
    const { meanings } = fakeEmbedder(never);
    const opened = meanings();
    const embedded = opened.embed(['a'], { signal });
    await turn();
    opened.close();
    await expect(embedded).rejects.toThrow('closed');
  });

  it('texts of owners that left are not embedded, and a failed batch does not fail the next', async () => {
    let isDown = true;
    const { asked, meanings } = fakeEmbedder(async () => {
      if (isDown) throw new EngineError('fake', 'ENGINE_UNAVAILABLE', 'down');
    });
    const opened = meanings();
    await expect(opened.embed(['a'], { signal })).rejects.toThrow('down');
    isDown = false;
    await expect(opened.embed(['b'], { signal: AbortSignal.abort(new Error('gone')) })).rejects.toThrow('gone');
    expect(await opened.embed(['c'], { signal })).toHaveLength(1);
    expect(asked).toEqual([['a'], ['c']]);
  });
});

describe('nearest-neighbour search', () => {
  const draw = seededRandom(3);
  const random = (length: number): number[] => Array.from({ length }, () => draw() - 0.5);
  /** Embeddings near a subspace of far fewer dimensions, as real ones are. */
  const meant = Array.from({ length: 20 }, () => random(96));
  const pointOf = (weights: readonly number[]): Float32Array =>
    unitOf(
      Array.from({ length: 96 }, (_, at) =>
        weights.reduce((sum, each, row) => sum + each * (meant[row]?.[at] ?? 0), 0),
      ),
    );

  it('the sign-based search finds the same neighbours as comparing every pair', () => {
    const weights = Array.from({ length: 2_000 }, () => random(20));
    const points = weights.map(pointOf);
    const nearest = openEmbeddingIndex();
    for (const [index, point] of points.entries()) nearest.place(index * 2, point);
    let found = 0;
    for (const asked of weights.slice(0, 40).map((each) => pointOf(each.map((value) => value + (draw() - 0.5) / 3)))) {
      const exact = points
        .map((point, index) => ({ index: index * 2, score: cosineSimilarity(point, asked) }))
        .toSorted((left, right) => right.score - left.score)
        .slice(0, 5);
      const found5 = nearest.search(asked, 5);
      expect(found5[0]).toEqual(exact[0]);
      found += exact.filter(({ index }) => found5.some((each) => each.index === index)).length;
    }
    expect(found / 200).toBeGreaterThan(0.95);
  });

  it('matches that stand out are real, and chance neighbours rarely stand out', () => {
    for (const size of [20, 1_000]) {
      const points = Array.from({ length: size }, () => unitOf(random(96)));
      const nearest = openEmbeddingIndex();
      for (const [index, point] of points.entries()) nearest.place(index, point);
      const meantFor = points
        .slice(0, 20)
        .map((point) => unitOf([...point].map((value) => value + (draw() - 0.5) / 4)));
      for (const [index, asked] of meantFor.entries()) expect(nearest.search(asked, 5, true)[0]?.index).toBe(index);
      const strangers = Array.from({ length: 100 }, () => nearest.search(unitOf(random(96)), 5, true).length);
      expect(strangers.filter((count) => count > 0).length).toBeLessThan(35);
      expect(nearest.search(unitOf(random(96)), 5)).toHaveLength(5);
    }
  });

  it('the index rejects vectors of another dimension, and finds nothing if it is empty', () => {
    const nearest = openEmbeddingIndex();
    expect(nearest.search(Float32Array.of(1), 3)).toEqual([]);
    nearest.place(7, Float32Array.of(0, 1));
    nearest.place(8, Float32Array.of(0, 1, 0));
    expect(nearest.size).toBe(1);
    expect(nearest.search(Float32Array.of(0, 1), 3)).toEqual([{ index: 7, score: 1 }]);
    expect(nearest.search(Float32Array.of(1), 3)).toEqual([]);
  });
});

describe('memories found by embedding', () => {
  const rain = Float32Array.of(1, 0);
  const money = Float32Array.of(0, 1);
  const opened = () => {
    const index = openMemoryIndex();
    index.add([
      { id: 't1', text: 'A storm took the roof.', atMs: 0 },
      { id: 't2', text: 'I owe the miller three coins.', atMs: 0 },
    ]);
    index.place('t1', rain);
    index.place('t2', money);
    index.place('t9', money);
    return index;
  };

  it('a memory without a common word with the user message is found', () => {
    expect(opened().find('Is the weather bad?', 0)).toEqual([]);
    expect(opened().find('Is the weather bad?', 0, rain)[0]).toBe('t1');
  });

  it('a user message without a topic recalls no memory', () => {
    expect(opened().find('What do you think?', 0, rain)).toEqual([]);
  });

  it('a memory that embeddings and words both find ranks first', () => {
    expect(opened().find('Does the miller want coins?', 0, money)).toEqual(['t2', 't1']);
  });
});
