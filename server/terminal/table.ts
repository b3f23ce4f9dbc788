import { printable } from './printable.ts';

/** Formats a plain-text table that fits the terminal: lines are cut to `width` columns. */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  width = process.stdout.columns ?? 100,
): string {
  const all = [head, ...rows].map((row) => row.map((cell) => printable(cell).replaceAll(/\s+/g, ' ')));
  const widths = head.map((_, column) => Math.max(...all.map((row) => displayWidth(row[column] ?? ''))));
  const lines = all.map((row) => {
    const cells = row.map((cell, column) => (column === row.length - 1 ? cell : pad(cell, widths[column] ?? 0)));
    return cut(cells.join('  '), width).trimEnd();
  });
  const rule = widths.map((columns) => '─'.repeat(columns)).join('  ');
  return [lines[0], cut(rule, width), ...lines.slice(1)].join('\n');
}

/** Counts the terminal columns of a text: Han, Kana, Hangul and full-width characters take two. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) width += isWide(character) ? 2 : 1;
  return width;
}

/**
 * Wraps text to the terminal's width with indented continuation lines; breaks at spaces, or anywhere in a text without
 * any.
 */
export function wrapped(text: string, indent: number, width = process.stdout.columns ?? 100): string {
  const clean = printable(text);
  if (displayWidth(clean) <= width || width <= 2 * indent) return clean;
  let end = clean.length;
  while (displayWidth(clean.slice(0, end)) > width) end -= 1;
  const space = clean.lastIndexOf(' ', end);
  const at = space > indent ? space : end;
  return `${clean.slice(0, at)}\n${wrapped(' '.repeat(indent) + clean.slice(at).trimStart(), indent, width)}`;
}

function isWide(character: string): boolean {
  return /[ᄀ-ᅟ⺀-꓏가-힣豈-﫿︰-﹏＀-｠￠-￦]/u.test(character);
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - displayWidth(text)));
}

function cut(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let kept = '';
  for (const character of text) {
    if (displayWidth(kept + character) > width - 1) break;
    kept += character;
  }
  return `${kept}…`;
}
