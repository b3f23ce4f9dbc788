import type { CallOptions } from '../engine.ts';

/** Batches items of several callers into shared runs. */
export interface MicroBatch<Item, Result> {
  /** Returns one item's result. Aborting throws `signal.reason`; a run under way continues, its result is dropped. */
  add(item: Item, options: CallOptions): Promise<Result>;
}

export interface MicroBatchSettings<Item, Result> {
  /** Takes items of one kind and returns a result for each, in order. */
  run(items: readonly Item[]): Promise<readonly Result[]>;
  /** Items of the same kind may share a run, e.g. clips of equal length. */
  kindOf(item: Item): string | number;
  /** Maximum items in a run. */
  readonly mostItems: number;
  /** Maximum concurrent runs. */
  readonly lanes: number;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly kind: string | number;
  readonly resolve: (result: Result) => void;
  readonly reject: (reason: unknown) => void;
  readonly isGone: () => boolean;
}

/** Batches only what queues up while all lanes are busy, the oldest item's kind first; never waits to fill a batch. */
export function openMicroBatch<Item, Result>(settings: MicroBatchSettings<Item, Result>): MicroBatch<Item, Result> {
  const waiting: Waiting<Item, Result>[] = [];
  let running = 0;

  function begin(): void {
    while (running < settings.lanes && waiting.length > 0) {
      const batch = takeBatch(waiting, settings.mostItems);
      if (batch.length === 0) continue;
      running += 1;
      void runBatch(batch).finally(() => {
        running -= 1;
        begin();
      });
    }
  }

  async function runBatch(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await settings.run(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
    } catch (reason) {
      for (const { reject } of batch) reject(reason);
    }
  }

  return {
    add: (item, { signal }) =>
      new Promise<Result>((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        const onAbort = (): void => reject(signal.reason);
        signal.addEventListener('abort', onAbort, { once: true });
        const settled = (): void => signal.removeEventListener('abort', onAbort);
        waiting.push({
          item,
          kind: settings.kindOf(item),
          resolve: (result) => (settled(), resolve(result)),
          reject: (reason) => (settled(), reject(reason)),
          isGone: () => signal.aborted,
        });
        // Deferred, so that items added in the same turn of the event loop join the batch.
        setImmediate(begin);
      }),
  };
}

/** Removes the oldest item and others of its kind from `waiting`; aborted items are removed too. */
function takeBatch<Item, Result>(waiting: Waiting<Item, Result>[], most: number): Waiting<Item, Result>[] {
  const present = waiting.splice(0).filter(({ isGone }) => !isGone());
  const kind = present[0]?.kind;
  const batch: Waiting<Item, Result>[] = [];
  for (const each of present) {
    if (each.kind === kind && batch.length < most) batch.push(each);
    else waiting.push(each);
  }
  return batch;
}
