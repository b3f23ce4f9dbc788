/** Runs `work` on items in order, at most `count` concurrently. Throws a failure once those running have finished. */
export async function forEachConcurrent<Item>(
  items: Iterable<Item>,
  count: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const left = [...items].values();
  let isFailed = false;
  const next = async (): Promise<void> => {
    for (const item of left) {
      if (isFailed) return;
      try {
        await work(item);
      } catch (fault) {
        isFailed = true;
        throw fault;
      }
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: count }, next));
  const failed = ended.find((each) => each.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
