import { describe, expect, it } from 'vitest';
import { jsonIn } from '../../../agents/llm/find-json.ts';

const value = {
  statements: [{ text: 'Deep enough, {she} said: "fools"', at: -1.5e2, is: true, no: null }, { text: '很深' }],
};
const json = JSON.stringify(value);

describe('JSON in an answer', () => {
  it.each([
    ['as it is', json],
    ['spread over lines', JSON.stringify(value, undefined, 2)],
    ['in a code fence', `\`\`\`json\n${json}\n\`\`\``],
    ['among words with braces and brackets', `Sure [1], here {it} is: ${json} Shall I {go} on? {"a": 1}`],
    ['with commas too many', json.replace('}]', '},]').replace('null}', 'null,}')],
    ['with a line break in a string', json.replace('she} ', 'she} \n').replace('\\n', '')],
  ])('JSON is found %s', (_, text) => {
    const found = jsonIn(text);
    expect(JSON.parse(JSON.stringify(found).replaceAll(String.raw`\n`, ''))).toEqual(value);
  });

  it('JSON is repaired by dropping what was cut off, wherever that was', () => {
    for (let end = 1; end < json.length; end += 1) {
      const found = jsonIn(json.slice(0, end)) as { readonly statements?: readonly unknown[] } | undefined;
      expect(found).toBeTypeOf('object');
      const [first] = found?.statements ?? [];
      if (end > json.indexOf('},')) expect(first).toEqual(value.statements[0]);
    }
  });

  it.each([
    ['an empty answer', ''],
    ['words', 'I would love to!'],
    ['a word in braces', '{is}'],
    ['a bracket that is not closed', '[see above'],
    ['an object without a colon', '{"a" 1}'],
    ['a dictionary of Python', "{'a': 1}"],
    ['nothing but beginnings', '{ "'.repeat(20_000)],
  ])('no JSON is found in %s', (_, text) => {
    const found = jsonIn(text);
    expect(Object.keys(found ?? {})).toEqual([]);
  });

  it('JSON nested deeper than any model writes is rejected', () => {
    expect(Array.isArray(jsonIn('['.repeat(2_000)))).toBe(true);
  });
});
