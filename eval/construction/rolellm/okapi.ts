const saturation = 1.2;
const lengthShare = 0.75;

/** Score of a document for a query of terms. */
export type Okapi = (query: readonly string[], document: number) => number;

/** Plain Okapi BM25 over documents of terms. */
export function openOkapi(documents: readonly (readonly string[])[]): Okapi {
  const counts = documents.map((terms) => {
    const found = new Map<string, number>();
    for (const term of terms) found.set(term, (found.get(term) ?? 0) + 1);
    return found;
  });
  const frequency = new Map<string, number>();
  for (const terms of counts) for (const term of terms.keys()) frequency.set(term, (frequency.get(term) ?? 0) + 1);
  const mean = documents.reduce((sum, terms) => sum + terms.length, 0) / Math.max(1, documents.length);
  return (query, document) => {
    const own = counts[document];
    const length = documents[document]?.length ?? 0;
    let score = 0;
    for (const term of new Set(query)) {
      const count = own?.get(term) ?? 0;
      const within = frequency.get(term) ?? 0;
      const rarity = Math.log(1 + (documents.length - within + 0.5) / (within + 0.5));
      score +=
        (rarity * count * (saturation + 1)) / (count + saturation * (1 - lengthShare + (lengthShare * length) / mean));
    }
    return score;
  };
}

/** Indices of texts that are no near duplicate of an earlier one: one scores less than `share` of its own score. */
export function distinctOf(texts: readonly (readonly string[])[], share: number): readonly number[] {
  const score = openOkapi(texts);
  const kept: number[] = [];
  for (const [index, terms] of texts.entries()) {
    const least = score(terms, index) * share;
    if (!kept.some((before) => score(terms, before) >= least)) kept.push(index);
  }
  return kept;
}
