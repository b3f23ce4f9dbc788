import type { ReplyPart } from '../../agents/agent.ts';

/** Characters that are no letter or digit: word breaks and punctuation may differ between text and transcript. */
const others = /[^\p{Letter}\p{Number}\p{Mark}]+/gu;

/** End of the last sentence in a text. */
const lastSentence = /^.*[.!?…。！？]["'”’»)]*\s+/su;

/**
 * Leaves out the beginning of a reply that was heard before, so that it continues in mid-sentence. A reply that is worded
 * differently is left whole, but for whole sentences that were heard; if none of those that were heard returns, it would
 * say the same twice in other words, and nothing more is said.
 */
export async function* skipHeard(parts: AsyncIterable<ReplyPart>, heard: string): AsyncIterable<ReplyPart> {
  const done = lettersOf(heard);
  let begun = '';
  let held: ReplyPart[] = [];
  let isOver = done === '';
  for await (const part of parts) {
    if (isOver) yield part;
    else if (part.type !== 'text-delta') held.push(part);
    else {
      const before = begun;
      begun += part.text;
      held.push(part);
      const letters = lettersOf(begun);
      // The separator of the words may come with the next one.
      if (done.startsWith(letters)) continue;
      isOver = true;
      const isOther = !letters.startsWith(done) && sentencesIn(before, done) === 0;
      if (isOther && lastSentence.test(`${heard} `)) {
        yield* held.filter(({ type }) => type !== 'text-delta');
        return;
      }
      const skipped = letters.startsWith(done) ? lengthWith(begun, done.length) : sentencesIn(before, done);
      yield* after(held, skipped);
      held = [];
    }
  }
  if (!isOver) yield* held.filter(({ type }) => type !== 'text-delta');
}

function lettersOf(text: string): string {
  return text.replaceAll(others, '').toLowerCase();
}

/** Returns the length of the beginning of a text with this many letters, and of what separates it from the rest. */
function lengthWith(text: string, letters: number): number {
  let length = 0;
  while (length < text.length && lettersOf(text.slice(0, length)).length < letters) length += 1;
  const [gap = ''] = /^[^\p{Letter}\p{Number}\p{Mark}]*/u.exec(text.slice(length)) ?? [];
  return length + gap.length;
}

function sentencesIn(text: string, done: string): number {
  const [sentences = ''] = lastSentence.exec(text) ?? [];
  return done.startsWith(lettersOf(sentences)) ? sentences.length : 0;
}

/** Yields parts without the first characters of their text. */
function* after(parts: readonly ReplyPart[], length: number): Iterable<ReplyPart> {
  let left = length;
  for (const part of parts) {
    // A stage direction among the words that were heard has taken place.
    if (part.type === 'cue' && left > 0) continue;
    if (part.type !== 'text-delta') yield part;
    else {
      const text = part.text.slice(left);
      left = Math.max(0, left - part.text.length);
      if (text !== '') yield { ...part, text };
    }
  }
}
