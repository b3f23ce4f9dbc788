import { describe, expect, it } from 'vitest';
import { openProgressBar, progressLine } from '../../../server/terminal/progress-bar.ts';
import { table, tableInParts } from '../../../server/terminal/table.ts';
import { displayWidth, wrap } from '../../../server/terminal/text.ts';

describe('wrapped text', () => {
  it('breaks at spaces and indents the following lines', () => {
    expect(wrap('says       a small step for man', 11, 24)).toBe('says       a small step\n           for man');
    expect(wrap('short', 4, 20)).toBe('short');
    expect(wrap('one\ntwo three', 2, 6)).toBe('one\ntwo\n  three');
  });

  it('breaks Chinese text between characters and counts two columns for each', () => {
    const lines = wrap(`says  ${'广州市房地产中介协会分析'.repeat(3)}`, 6, 30).split('\n');
    expect(lines.length).toBe(3);
    for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(30);
    expect(lines.map((line) => line.slice(6)).join('')).toBe('广州市房地产中介协会分析'.repeat(3));
  });

  it('keeps a path in one piece, so that it can be copied', () => {
    expect(wrap(`see ${'x'.repeat(40)} for more`, 0, 20)).toBe(`see\n${'x'.repeat(40)}\nfor more`);
  });
});

describe('a table', () => {
  const row = ['a', '你好', '1.5'];

  it('aligns its columns, wide characters included', () => {
    expect(table(['id', 'says', 'n'], [row, ['bcd', 'x', '12']], { width: 40 })).toBe(
      'id   says  n\n───  ────  ───\na    你好  1.5\nbcd  x     12',
    );
  });

  it('aligns numbers to the right', () => {
    expect(table(['id', 'says', 'n'], [row, ['bcd', 'x', '12']], { width: 40, numbers: true })).toBe(
      'id   says    n\n───  ────  ───\na    你好  1.5\nbcd     x   12',
    );
  });

  it('in parts cuts no number: columns that do not fit are in a second table', () => {
    const head = ['metric', 'first', 'second', '95 %', 'n'];
    const rows = [['a long name of a metric', '0.1234', '0.5678', '0.1234–0.5678', '12']];
    const parts = tableInParts(head, rows, { width: 40, numbers: true }).split('\n\n');
    expect(parts.map((part) => part.split('\n').map((line) => line.replaceAll(/ {2,}/g, ' | ')))).toEqual([
      ['metric | first | second', expect.any(String), 'a long name … | 0.1234 | 0.5678'],
      ['metric | 95 % | n', expect.any(String), 'a long name … | 0.1234–0.5678 | 12'],
    ]);
    for (const line of parts.join('\n').split('\n')) expect(displayWidth(line)).toBeLessThanOrEqual(40);
    expect(tableInParts(head, rows, { width: 80 })).toBe(table(head, rows, { width: 80 }));
    expect(tableInParts(head, [], { width: Infinity })).toBe(table(head, [], { width: Infinity }));
  });

  it('cuts the widest column first to fit the terminal, and nothing elsewhere', () => {
    const rows = [['one', 'x'.repeat(60), '12']];
    for (const line of table(['id', 'says', 'n'], rows, { width: 40 }).split('\n'))
      expect(displayWidth(line)).toBeLessThanOrEqual(40);
    expect(table(['id', 'says', 'n'], rows, { width: 40 })).toContain('…  12');
    expect(table(['id', 'says', 'n'], rows, { width: Infinity })).toContain('x'.repeat(60));
  });
});

describe('a progress bar', () => {
  it('shows percentage, facts, rate and remaining time', () => {
    const line = (done: number, elapsedMs: number): string =>
      progressLine(
        { done, of: 60, facts: [`${done}/60 clips`, ''] },
        { unit: 's of speech', already: 0, elapsedMs, width: 90 },
      );
    expect(line(15, 5_000)).toBe(`${'█'.repeat(8)}${'░'.repeat(22)}  25 %  15/60 clips  3.0 s of speech/s  15 s left`);
    expect(line(1, 2_000)).toContain('2 min left');
    expect(line(1, 20_000)).toContain('3.0 s of speech/min');
    expect(line(0, 0)).not.toContain('left');
    expect(line(60, 10_000)).not.toContain('left');
  });

  it('does not count units that were done before', () => {
    const how = { unit: '', already: 50, elapsedMs: 10_000, width: 80 };
    expect(progressLine({ done: 60, of: 100, facts: [] }, how)).toContain('1.0/s  40 s left');
  });

  it('fits its width', () => {
    for (const width of [10, 20, 40, 80])
      expect(
        progressLine({ done: 3, of: 10, facts: ['3/10'] }, { unit: 'MB', already: 0, elapsedMs: 9, width }).length,
      ).toBeLessThanOrEqual(width);
  });

  it('is drawn in place on a terminal, ten times a second at most, and its last state in any case', () => {
    const written: string[] = [];
    let nowMs = 0;
    const target = { isTTY: true, columns: 60, write: (text: string) => written.push(text) };
    const bar = openProgressBar({ target, now: () => nowMs });
    for (let done = 1; done <= 50; done += 1) {
      nowMs += 10;
      bar.show({ done, of: 100, facts: [`file ${done}`] });
    }
    expect(written).toHaveLength(5);
    bar.end();
    expect(written.at(-2)).toMatch(/^\r.*file 50/);
    expect(written.at(-1)).toBe('\n');
  });

  it('is a line for every tenth elsewhere', () => {
    const written: string[] = [];
    const bar = openProgressBar({ target: { write: (text) => written.push(text) }, now: () => 0 });
    for (let done = 1; done <= 100; done += 1) bar.show({ done, of: 100, facts: [] });
    bar.end();
    expect(written).toHaveLength(11);
    for (const line of written) expect(line).toMatch(/ %\n$/);
  });
});
