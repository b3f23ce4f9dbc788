import { parseTolerant } from './tolerant-json.ts';

/** JSON found in a model's reply. */
export type FoundJson =
  | { readonly kind: 'whole'; readonly value: unknown }
  /** The text ends before the value does. Candidates: cut after the last complete element, of the innermost list first. */
  | { readonly kind: 'cut'; readonly candidates: readonly unknown[] }
  /** A value that is damaged; `text` is what a repair is given. */
  | { readonly kind: 'broken'; readonly text: string; readonly problem: string }
  | { readonly kind: 'none' };

/**
 * Finds the JSON in a model's reply: in a code fence, else the longest balanced object or array. Strict JSON first, then
 * with trailing commas, line breaks in strings, and Python's literals. Never returns an inner value of a broken one.
 */
export function jsonInReply(reply: string): FoundJson {
  const fenced = /```[\w-]*[ \t]*\n([\s\S]*?)(?:\n[ \t]*```|$)/.exec(reply)?.[1];
  if (fenced !== undefined) {
    const found = longestIn(fenced);
    if (found.kind !== 'none') return found;
  }
  return longestIn(reply);
}

function longestIn(text: string): FoundJson {
  const regions = regionsOf(text);
  const byLength = regions.toSorted((left, right) => right.end - right.from - (left.end - left.from));
  let problem: FoundJson | undefined;
  for (const { from, end, isOpen } of byLength) {
    const part = text.slice(from, end);
    const parsed = parseTolerant(part);
    if (parsed.kind === 'value') return { kind: 'whole', value: parsed.value };
    if (parsed.kind === 'cut' && isOpen) return { kind: 'cut', candidates: parsed.candidates };
    // Brackets of prose, such as "[sic]", are no JSON.
    if (part.includes('"') || part.includes(':')) problem ??= { kind: 'broken', text: part, problem: parsed.problem };
  }
  return problem ?? { kind: 'none' };
}

interface Region {
  readonly from: number;
  readonly end: number;
  /** No bracket closes it. */
  readonly isOpen: boolean;
}

/** Outermost bracketed regions, with brackets inside double-quoted strings left aside. */
function regionsOf(text: string): Region[] {
  const regions: Region[] = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at];
    if (letter === '"' && depth > 0) at = endOfString(text, at);
    else if (letter === '{' || letter === '[') {
      if (depth === 0) from = at;
      depth += 1;
    } else if ((letter === '}' || letter === ']') && depth > 0) {
      depth -= 1;
      if (depth === 0) regions.push({ from, end: at + 1, isOpen: false });
    }
  }
  if (depth > 0) regions.push({ from, end: text.length, isOpen: true });
  return regions;
}

function endOfString(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at;
  }
  return text.length;
}
