/**
 * Extracts the JSON that a model wrote somewhere in its answer: in a code fence, after a sentence, with extra commas,
 * with line breaks inside strings, or cut off at the token limit, then without its incomplete parts. Returns the
 * longest of several values; undefined if there is none.
 */
export function jsonIn(text: string): unknown {
  let longest: Parsed | undefined;
  let length = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] !== '{' && text[at] !== '[') continue;
    const parsed = valueAt(text, at);
    if (parsed === undefined) continue;
    if (parsed.end - at > length) {
      longest = parsed;
      length = parsed.end - at;
    }
    at = parsed.end - 1;
  }
  return longest?.value;
}

interface Parsed {
  readonly value: unknown;
  /** Index after the value. */
  readonly end: number;
  /** The text ended before the value did. */
  readonly isCut: boolean;
}

const primitive = /(?:-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.])/y;
/** Nesting limit; deeper values are not a model's answer. */
const deepest = 32;

/** Undefined if there is no value, or only the start of a string or word. */
function valueAt(text: string, from: number, depth = 0): Parsed | undefined {
  const at = afterBlank(text, from);
  if (depth > deepest) return undefined;
  if (text[at] === '"') return stringAt(text, at);
  if (text[at] === '{' || text[at] === '[') return listAt(text, at, depth);
  primitive.lastIndex = at;
  const word = primitive.exec(text)?.[0];
  return word === undefined ? undefined : { value: JSON.parse(word), end: at + word.length, isCut: false };
}

/** Parses an object or array; of a cut-off one, the complete items. */
function listAt(text: string, from: number, depth: number): Parsed | undefined {
  const isObject = text[from] === '{';
  const close = isObject ? '}' : ']';
  const items: unknown[] = [];
  const entries: [string, unknown][] = [];
  const parsed = (end: number, isCut: boolean): Parsed => ({
    value: isObject ? Object.fromEntries(entries) : items,
    end,
    isCut,
  });
  let at = from + 1;
  for (;;) {
    at = afterBlank(text, at, /[\s,]*/y);
    if (at >= text.length) return parsed(at, true);
    if (text[at] === close) return parsed(at + 1, false);
    const key = isObject ? stringAt(text, at) : undefined;
    const colon = key === undefined ? at : afterBlank(text, key.end);
    if (isObject && (key === undefined || text[colon] !== ':'))
      return isOpenEnded(text, at) ? parsed(text.length, true) : undefined;
    const item = valueAt(text, isObject ? colon + 1 : at, depth + 1);
    if (item === undefined) return isOpenEnded(text, isObject ? colon + 1 : at) ? parsed(text.length, true) : undefined;
    if (isObject) entries.push([String(key?.value), item.value]);
    else items.push(item.value);
    at = item.end;
    if (item.isCut) return parsed(at, true);
  }
}

function stringAt(text: string, from: number): Parsed | undefined {
  if (text[from] !== '"') return undefined;
  let end = from + 1;
  while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1;
  if (end >= text.length) return undefined;
  const written = text
    .slice(from, end + 1)
    .replaceAll('\n', String.raw`\n`)
    .replaceAll('\r', '')
    .replaceAll('\t', ' ');
  try {
    return { value: JSON.parse(written), end: end + 1, isCut: false };
  } catch {
    return undefined;
  }
}

/** True if a partial value runs to the end of the text: an unterminated string, half a word, or nothing. */
function isOpenEnded(text: string, from: number): boolean {
  const rest = text.slice(afterBlank(text, from));
  return (
    rest === '' ||
    /^"(?:[^"\\]|\\.)*\\?$/su.test(rest) ||
    /^"(?:[^"\\]|\\.)*"\s*$/su.test(rest) ||
    /^[-\w.]{1,24}$/u.test(rest)
  );
}

/** Index of the next character that is not blank. */
function afterBlank(text: string, from: number, blank = /\s*/y): number {
  blank.lastIndex = from;
  return from + (blank.exec(text)?.[0].length ?? 0);
}
