/** Formats a plain-text table; first column left-aligned, the others right-aligned. */
export function textTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => columnsOf(row[column] ?? ''))));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => {
        const gap = ' '.repeat(Math.max(0, (widths[column] ?? 0) - columnsOf(cell)));
        return column === 0 ? cell + gap : gap + cell;
      })
      .join('  ')
      .trimEnd();
  return [line(head), widths.map((width) => '─'.repeat(width)).join('  '), ...rows.map(line)].join('\n');
}

/** Counts terminal columns: Han and full-width characters take two. */
function columnsOf(text: string): number {
  const wide = text.match(/[ᄀ-ᅟ⺀-꓏가-힣豈-﫿︰-﹏＀-｠￠-￦]/gu);
  return text.length + (wide?.length ?? 0);
}

/** Formats a score with four decimals, as in the paper; null as a dash. */
export function scoreText(value: number | null): string {
  return value === null ? '–' : value.toFixed(4);
}
