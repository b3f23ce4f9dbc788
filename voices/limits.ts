/**
 * Longest phrase, in characters; a Chinese one counts as three. Text without any good place to cut is cut here, so that
 * neither the work for a phrase nor the wait for its audio grows with the text.
 */
export const maxPhraseCharacters = 400;

/**
 * Characters before a place that decide whether a sentence or clause ends there. Each character of a text is compared
 * with this many at most, so that cutting a text takes time in proportion to its length.
 */
export const lookBackCharacters = 40;

/** Characters after a place that decide whether markup begins there: the longest link, and the text after it. */
export const lookAheadCharacters = 800;
