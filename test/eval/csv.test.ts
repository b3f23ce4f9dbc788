import { expect, it } from 'vitest';
import { formatCsv, parseCsv } from '../../eval/csv.ts';

it('a name that begins like a formula is text in a spreadsheet', () => {
  const names = ['=HYPERLINK("http://evil.example")', '+1+cmd|calc', '-2+3', '@SUM(A1)', '\t=1', '\r=1', '  =1'];
  const rows = parseCsv(formatCsv(names.map((name) => ({ name }))));
  expect(rows.map(({ name }) => name)).toEqual(names.map((name) => `'${name}`));
});

it('a column whose name begins like a formula is text too', () => {
  expect(formatCsv([{ '=role': 1 }])).toBe("'=role\n1\n");
});

it('plain numbers and harmless names stay as they are', () => {
  const row = { value: -3.5, text: '-3.5', exponent: '+1e-7', name: 'Holmes - a=b', none: null };
  expect(formatCsv([row])).toBe('value,text,exponent,name,none\n-3.5,-3.5,+1e-7,Holmes - a=b,\n');
});
