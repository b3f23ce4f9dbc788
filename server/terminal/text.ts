import type { Writable } from 'node:stream';

/**
 * Makes untrusted text (cards, models) safe for a terminal: removes control characters, which could move the cursor or
 * rename the window, and those that change the writing direction. Line breaks and tabs stay.
 */
export function printable(text: string): string {
  return text.replaceAll(/[^\P{Cc}\t\n]|[\u202A-\u202E\u2066-\u2069]/gu, '');
}

/** Prints a line to standard output. Every command prints through here, because texts and names may be those of others. */
export function printLine(text = ''): void {
  console.log(printable(text));
}

/** Prints a line to standard error: progress and problems, which are not the result of the command. */
export function noteLine(text: string): void {
  process.stderr.write(`${printable(text)}\n`);
}

/** Prints a note to standard error if the work takes longer than two seconds. */
export async function tellIfSlow<Result>(note: string, work: Promise<Result>): Promise<Result> {
  const timer = setTimeout(() => noteLine(note), 2_000);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}

/** Returns where `--out` writes, and how to print the rest: with `-` the result goes to standard output. */
export function outputOf(out: string): { readonly target: string | Writable; readonly tell: (text: string) => void } {
  return out === '-' ? { target: process.stdout, tell: noteLine } : { target: out, tell: printLine };
}

/** Writes JSON for output, indented by `indent` if given. */
export function jsonText(value: unknown, indent?: number): string {
  return printableJson(JSON.stringify(value, undefined, indent));
}

/** Makes JSON safe for a terminal: escapes what `printable` would remove, so that nothing is lost. */
export function printableJson(json: string): string {
  return json.replaceAll(
    /[\u007F-\u009F\u202A-\u202E\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Columns of the terminal; 80 if the output is not a terminal. */
export function terminalWidth({ columns }: { readonly columns?: number } = process.stdout): number {
  return columns ?? 80;
}

/** Counts the terminal columns of a text: Han, Kana, Hangul and full-width characters take two. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) width += isWide(character) ? 2 : 1;
  return width;
}

/** Wraps lines to the terminal's width, indented, at spaces or between wide characters; a longer word stays whole. */
export function wrap(text: string, indent = 0, width = terminalWidth()): string {
  return printable(text)
    .split('\n')
    .map((line) => wrapLine(line, indent, Math.max(width, 2 * indent)))
    .join('\n');
}

function wrapLine(line: string, indent: number, width: number): string {
  if (displayWidth(line) <= width) return line;
  const at = breakBefore(line, indent, width);
  if (at === undefined) return line;
  return `${line.slice(0, at).trimEnd()}\n${wrapLine(' '.repeat(indent) + line.slice(at).trimStart(), indent, width)}`;
}

/** Finds the last place to break at within the width, otherwise the first one after it. */
function breakBefore(line: string, indent: number, width: number): number | undefined {
  let found: number | undefined;
  let [at, columns] = [0, 0];
  for (const character of line) {
    const canBreak = at > indent && (character === ' ' || isWide(character));
    if (columns > width && found !== undefined) return found;
    if (canBreak && (columns <= width || found === undefined)) found = at;
    at += character.length;
    columns += isWide(character) ? 2 : 1;
  }
  return found;
}

/** Cuts a text to a number of columns; an ellipsis replaces the rest. */
export function cut(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let kept = '';
  for (const character of text) {
    if (displayWidth(kept + character) > width - 1) break;
    kept += character;
  }
  return `${kept}…`;
}

function isWide(character: string): boolean {
  return /[ᄀ-ᅟ⺀-꓏가-힣豈-﫿︰-﹏＀-｠￠-￦]/u.test(character);
}
