import { unitOf } from '../speaker-encoder.ts';

/** What lies together. */
export interface Grouping {
  /** Places of the embeddings of each group. */
  readonly groups: readonly (readonly number[])[];
  /** The mean cosine of the two groups that were joined at the lowest; 1 where none were. */
  readonly loosest: number;
}

interface Group {
  readonly places: readonly number[];
  /** Of unit vectors: the product of two sums, over the product of their counts, is the mean of all cosines between them. */
  readonly sum: Float64Array;
}

/**
 * Groups embeddings from the bottom up: the two groups of the highest mean cosine become one, as long as that is `least` or more
 * (agglomerative clustering, average linkage). Takes time by the square of their number (nearest-neighbour chains), memory by it.
 */
export function groupAlike(embeddings: readonly ArrayLike<number>[], least: number): Grouping {
  const open = new Set<Group>(embeddings.map((each, place) => ({ places: [place], sum: unitOf(each) })));
  const groups: (readonly number[])[] = [];
  const chain: Group[] = [];
  let loosest = 1;
  for (;;) {
    const [any] = open;
    if (any === undefined) break;
    if (chain.length === 0) chain.push(any);
    const last = chain.at(-1) as Group;
    const before = chain.at(-2);
    const nearest = nearestOf(last, open, before);
    if (nearest === undefined || nearest.cosine < least) {
      // What is furthest from all else by now stays so: joining others brings none of them nearer.
      groups.push(last.places);
      open.delete(last);
      chain.pop();
    } else if (nearest.group === before) {
      loosest = Math.min(loosest, nearest.cosine);
      chain.splice(-2);
      open.delete(last);
      open.delete(before);
      open.add(joined(before, last));
    } else chain.push(nearest.group);
  }
  return { groups: groups.map((places) => places.toSorted((a, b) => a - b)), loosest };
}

/** The nearest of the others; of several, the one that was there before in the chain, which then ends. */
function nearestOf(
  group: Group,
  open: ReadonlySet<Group>,
  before: Group | undefined,
): { readonly group: Group; readonly cosine: number } | undefined {
  let nearest = before === undefined ? undefined : { group: before, cosine: meanCosine(group, before) };
  for (const other of open) {
    if (other === group || other === before) continue;
    const cosine = meanCosine(group, other);
    if (nearest === undefined || cosine > nearest.cosine) nearest = { group: other, cosine };
  }
  return nearest;
}

function meanCosine(one: Group, other: Group): number {
  let product = 0;
  for (let index = 0; index < one.sum.length; index += 1) {
    product += (one.sum[index] as number) * (other.sum[index] as number);
  }
  return product / (one.places.length * other.places.length);
}

function joined(one: Group, other: Group): Group {
  return {
    places: [...one.places, ...other.places],
    sum: one.sum.map((value, index) => value + (other.sum[index] as number)),
  };
}
