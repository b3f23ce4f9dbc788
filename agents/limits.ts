/**
 * Characters of a message that retrieval, recall and the guardrail read: its end, which tells what is wanted now. More
 * would cost every other session time, and finds nothing better.
 */
export const maxSearchedCharacters = 2_000;

/** Latest replies that are compared with a line to be said, so that it is not said twice. */
export const maxComparedReplies = 200;

/** Returns the part of a message that is searched. */
export function searchedPart(text: string): string {
  return text.length <= maxSearchedCharacters ? text : text.slice(-maxSearchedCharacters);
}
