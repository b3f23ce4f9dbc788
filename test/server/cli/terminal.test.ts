import { describe, expect, it } from 'vitest';
import { table } from '../../../server/terminal/table.ts';
import { displayWidth, wrap } from '../../../server/terminal/text.ts';

describe('text for a terminal', () => {
  it('is parted at spaces, the further lines indented', () => {
    expect(wrap('says       a small step for man', 11, 24)).toBe('says       a small step\n           for man');
    expect(wrap('short', 4, 20)).toBe('short');
    // Narrower than can be: left to the terminal.
    expect(wrap('says       a small step', 11, 20)).toBe('says       a small step');
  });

  it('is parted anywhere where there are no spaces, wide signs counted as two columns', () => {
    const lines = wrap(`says  ${'广州市房地产中介协会分析'.repeat(3)}`, 6, 30).split('\n');
    expect(lines.length).toBe(4 - 1);
    for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(30);
    expect(lines.map((line) => line.slice(6)).join('')).toBe('广州市房地产中介协会分析'.repeat(3));
    const path = wrap('x'.repeat(70), 0, 30);
    expect(path.split('\n').map((line) => line.length)).toEqual([30, 30, 10]);
  });

  it('in a table keeps its columns, wide signs too', () => {
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
