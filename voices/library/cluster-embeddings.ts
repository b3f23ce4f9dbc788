import { unitOf } from '../speaker-encoder.ts';

/** Result of clustering embeddings. */
export interface Clustering {
  /** Indices of the embeddings in each group, ascending. */
  readonly groups: readonly (readonly number[])[];
  /** Lowest mean cosine at which two groups were merged; 1 if none were. */
  readonly loosest: number;
}

/**
 * Clusters embeddings bottom-up: merges the two groups with the highest mean cosine, as long as that is at least
 * `least` (agglomerative clustering, average linkage, nearest-neighbour chains). Time and memory are quadratic in their
 * number: a second and 50 MB for 2400, about four hours of speech.
 */
export function clusterEmbeddings(embeddings: readonly ArrayLike<number>[], least: number): Clustering {
  const count = embeddings.length;
  const cosines = allCosines(embeddings);
  /** Members of each open group, keyed by the index of one of them. */
  const open = new Map(embeddings.map((_, place) => [place, [place]]));
  const groups: number[][] = [];
  const chain: number[] = [];
  let loosest = 1;
  for (;;) {
    const last = chain.at(-1) ?? open.keys().next().value;
    if (last === undefined) break;
    if (chain.length === 0) chain.push(last);
    const before = chain.at(-2);
    const nearest = nearestOf(last, before);
    const cosine = nearest === undefined ? -Infinity : (cosines[last * count + nearest] as number);
    if (nearest === undefined || cosine < least) {
      // No group within `least` is left for this one, and merging others never brings one closer.
      groups.push(open.get(last) as number[]);
      open.delete(last);
      chain.pop();
    } else if (nearest === before) {
      loosest = Math.min(loosest, cosine);
      chain.splice(-2);
      join(nearest, last);
    } else chain.push(nearest);
  }
  return { groups: groups.map((places) => places.toSorted((a, b) => a - b)), loosest };

  /** The nearest other group; in a tie the previous one in the chain, which ends the chain. */
  function nearestOf(group: number, before: number | undefined): number | undefined {
    const row = group * count;
    let nearest = before;
    for (const other of open.keys()) {
      const isNearer = nearest === undefined || (cosines[row + other] as number) > (cosines[row + nearest] as number);
      if (other !== group && isNearer) nearest = other;
    }
    return nearest;
  }

  function join(one: number, other: number): void {
    const [ones, others] = [open.get(one) as number[], open.get(other) as number[]];
    open.delete(other);
    open.set(one, [...ones, ...others]);
    for (const each of open.keys()) {
      const sum =
        ones.length * (cosines[each * count + one] as number) +
        others.length * (cosines[each * count + other] as number);
      const mean = sum / (ones.length + others.length);
      cosines[each * count + one] = mean;
      cosines[one * count + each] = mean;
    }
  }
}

function allCosines(embeddings: readonly ArrayLike<number>[]): Float64Array {
  const units = embeddings.map(unitOf);
  const cosines = new Float64Array(units.length ** 2);
  for (const [row, one] of units.entries()) {
    for (let column = 0; column < row; column += 1) {
      const other = units[column] as Float64Array;
      let product = 0;
      for (let index = 0; index < one.length; index += 1) product += (one[index] as number) * (other[index] as number);
      cosines[row * units.length + column] = product;
      cosines[column * units.length + row] = product;
    }
  }
  return cosines;
}
