import { cut, displayWidth, printable } from './text.ts';

/** A column is not made narrower than this to fit the terminal. */
const leastColumns = 12;

/**
 * Formats a plain-text table. On a terminal it fits `width`: the widest columns are cut first. `numbers` aligns all
 * columns but the first to the right.
 */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  { width = process.stdout.columns ?? Infinity, numbers = false } = {},
): string {
  const all = [head, ...rows].map((row) => row.map((cell) => printable(cell).replaceAll(/\s+/g, ' ')));
  const widths = fitted(
    head.map((_, column) => Math.max(...all.map((row) => displayWidth(row[column] ?? '')))),
    width,
  );
  const lines = all.map((row) => {
    const cells = row.map((cell, column) =>
      pad(cut(cell, widths[column] ?? 0), widths[column] ?? 0, numbers && column > 0),
    );
    return cut(cells.join('  ').trimEnd(), width);
  });
  const rule = widths.map((columns) => '─'.repeat(columns)).join('  ');
  return [lines[0], cut(rule, width), ...lines.slice(1)].join('\n');
}

/**
 * Like `table`, but no number is cut: columns that do not fit beside each other are in further tables below, each
 * with the first column.
 */
export function tableInParts(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  { width = process.stdout.columns ?? Infinity, numbers = false } = {},
): string {
  const widths = head.map((_, column) =>
    Math.max(...[head, ...rows].map((row) => displayWidth(printable(row[column] ?? '').replaceAll(/\s+/g, ' ')))),
  );
  // Labels yield, since numbers may not.
  const label = Math.min(widths[0] ?? 0, Math.max(leastColumns, Math.floor(width / 3)));
  const parts: number[][] = [];
  let taken = 0;
  for (let column = 1; column < head.length; column += 1) {
    const needed = (widths[column] ?? 0) + 2;
    if (parts.length === 0 || taken + needed > width) {
      parts.push([]);
      taken = label;
    }
    parts.at(-1)?.push(column);
    taken += needed;
  }
  const pick = (row: readonly string[], columns: readonly number[]): string[] => [
    parts.length > 1 ? cut(row[0] ?? '', label) : (row[0] ?? ''),
    ...columns.map((column) => row[column] ?? ''),
  ];
  return parts
    .map((columns) =>
      table(
        pick(head, columns),
        rows.map((row) => pick(row, columns)),
        { width, numbers },
      ),
    )
    .join('\n\n');
}

/** Narrows the widest columns until the table fits. */
function fitted(widths: number[], width: number): readonly number[] {
  let excess = widths.reduce((sum, columns) => sum + columns + 2, -2) - width;
  while (excess > 0) {
    const widest = widths.indexOf(Math.max(...widths));
    const second = Math.max(leastColumns, ...widths.filter((_, column) => column !== widest));
    const columns = widths[widest] ?? 0;
    const less = Math.min(excess, Math.max(1, columns - second));
    if (columns - less < leastColumns) break;
    widths[widest] = columns - less;
    excess -= less;
  }
  return widths;
}

function pad(text: string, width: number, isRight: boolean): string {
  const gap = ' '.repeat(Math.max(0, width - displayWidth(text)));
  return isRight ? gap + text : text + gap;
}
