import { EvalError } from './eval-error.ts';

/** Parses CSV (RFC 4180: quotes, doubled quotes, line breaks inside quotes) with a header row; one object per row. */
export function parseCsv(text: string): Record<string, string>[] {
  const [head = [], ...rows] = cellsOf(text.replace(/^\uFEFF/, ''));
  return rows
    .filter((row) => row.length > 1 || row[0] !== '')
    .map((row) => Object.fromEntries(head.map((name, column) => [name.trim(), row[column] ?? ''])));
}

/** A text that spreadsheets take for a formula: it begins, after spaces, with one of `= + - @`, a tab or a line break. */
const formula = /^ *[=+\-@\t\r\n]/;
const plainNumber = /^[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;

/**
 * Formats rows as CSV; null becomes an empty cell. A text that a spreadsheet would run as a formula gets an apostrophe
 * in front.
 */
export function formatCsv(rows: readonly Readonly<Record<string, string | number | null>>[]): string {
  const head = Object.keys(rows[0] ?? {});
  const cell = (value: string | number | null | undefined): string => {
    const given = value === null || value === undefined ? '' : String(value);
    const text = formula.test(given) && !plainNumber.test(given) ? `'${given}` : given;
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [head, ...rows.map((row) => head.map((name) => row[name]))]
    .map((row) => `${row.map(cell).join(',')}\n`)
    .join('');
}

/** Returns a column's value. Throws an `EvalError` that names file and column if it is missing. */
export function requireColumn(row: Readonly<Record<string, string>>, column: string, file: string): string {
  const value = row[column];
  if (value === undefined || value === '')
    throw new EvalError('data', `${file}: a row has no "${column}". The first line must name the columns.`);
  return value;
}

function cellsOf(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (let at = 0; at < text.length;) {
    let cell = '';
    if (text[at] === '"') {
      const quoted = /"((?:[^"]|"")*)"?/y;
      quoted.lastIndex = at;
      const found = quoted.exec(text);
      cell = (found?.[1] ?? '').replaceAll('""', '"');
      at += found?.[0].length ?? 1;
    }
    const plain = /[^,\r\n]*/y;
    plain.lastIndex = at;
    const rest = plain.exec(text)?.[0] ?? '';
    row.push(cell + rest);
    at += rest.length;
    if (text[at] === ',') {
      at += 1;
      if (at >= text.length) row.push('');
      continue;
    }
    rows.push(row);
    row = [];
    at += text.startsWith('\r\n', at) ? 2 : 1;
  }
  if (row.length > 0) rows.push(row);
  return rows;
}
