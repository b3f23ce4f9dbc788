import { describe, expect, it } from 'vitest';
import { displayWidth, table, wrapped } from '../../../server/terminal/table.ts';

describe('table', () => {
  it('wraps text at spaces and indents the following lines', () => {
    expect(wrapped('says       a small step for man', 11, 24)).toBe('says       a small step\n           for man');
    expect(wrapped('short', 4, 20)).toBe('short');
    // Narrower than can be: left to the terminal.
    expect(wrapped('says       a small step', 11, 20)).toBe('says       a small step');
  });

  it('wraps text without spaces anywhere and counts wide characters as two columns', () => {
    const lines = wrapped(`says  ${'广州市房地产中介协会分析'.repeat(3)}`, 6, 30).split('\n');
    expect(lines.length).toBe(4 - 1);
    for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(30);
    expect(lines.map((line) => line.slice(6)).join('')).toBe('广州市房地产中介协会分析'.repeat(3));
    const path = wrapped('x'.repeat(70), 0, 30);
    expect(path.split('\n').map((line) => line.length)).toEqual([30, 30, 10]);
  });

  it('aligns table columns, also with wide characters', () => {
    expect(
      table(
        ['id', 'says'],
        [
          ['a', '你好'],
          ['bcd', 'x'],
        ],
        40,
      ),
    ).toBe('id   says\n───  ────\na    你好\nbcd  x');
  });
});
