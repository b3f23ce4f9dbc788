import * as fc from '../../../fakes/property.ts';
import { describe, expect, it } from 'vitest';
import { jsonInReply } from '../../../../eval/construction/json/json-in-reply.ts';

const whole = (value: unknown): object => ({ kind: 'whole', value });

describe('JSON in a reply', () => {
  it.each([
    ['plain', '{"a": 1}', { a: 1 }],
    ['after a sentence', 'Here you are: {"a": [1, 2]} I hope it helps.', { a: [1, 2] }],
    ['in a fence, beside another value', 'As in {"b": 2222222222222}:\n```json\n{"a": 1}\n```\nDone', { a: 1 }],
    ['the longest of several', '{"a": 1} or {"a": 1, "b": 2}', { a: 1, b: 2 }],
    ['with trailing commas', '{"a": [1, 2,], "b": {"c": 3,},}', { a: [1, 2], b: { c: 3 } }],
    [
      'with literals of Python',
      "{'a': True, 'b': None, 'c': 'it\\'s', 'd': False}",
      { a: true, b: null, c: "it's", d: false },
    ],
    ['with line breaks in strings, which stay line breaks', '{"a": "one\ntwo"}', { a: 'one\ntwo' }],
    ['with brackets inside of strings', '{"a": "[thought] (action) }"}', { a: '[thought] (action) }' }],
    ['an array', '```\n[{"a": 1}]\n```', [{ a: 1 }]],
    ['after brackets of prose', 'He said [sic] so: {"a": "x"}', { a: 'x' }],
    ['with escapes in a value that is not strict', String.raw`{"a": "\u4e2d\n", }`, { a: '中\n' }],
  ])('is read: %s', (_, reply, value) => {
    expect(jsonInReply(reply)).toEqual(whole(value));
  });

  it('is never an inner value of a broken one', () => {
    const found = jsonInReply('{"plots": [{"a": 1}, {"b": 2}] "next": {"c": 3}}');
    expect(found).toMatchObject({ kind: 'broken', problem: expect.stringContaining('a comma is expected') as string });
  });

  it('is not found in a reply without any', () => {
    expect(jsonInReply('I am sorry, but I cannot do that.')).toEqual({ kind: 'none' });
  });

  it('that was cut is given up to its last complete element, and then with less', () => {
    const found = jsonInReply('```json\n{"plots": [{"name": "one", "lines": ["a"]}, {"name": "two", "lines": ["b", "c');
    expect(found).toEqual({
      kind: 'cut',
      candidates: [
        {
          plots: [
            { name: 'one', lines: ['a'] },
            { name: 'two', lines: ['b'] },
          ],
        },
        { plots: [{ name: 'one', lines: ['a'] }, { name: 'two' }] },
        { plots: [{ name: 'one', lines: ['a'] }] },
        {},
      ],
    });
  });

  it('of any value survives a fence and a sentence around it', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }), (object) => {
        const value: unknown = JSON.parse(JSON.stringify(object));
        expect(jsonInReply(JSON.stringify(value))).toEqual(whole(value));
        expect(jsonInReply(`Sure.\n\`\`\`json\n${JSON.stringify(value, undefined, 2)}\n\`\`\`\n`)).toEqual(
          whole(value),
        );
      }),
    );
  });

  it('cut anywhere never throws, and its first candidate holds only what was complete', () => {
    const text = JSON.stringify({
      rows: [
        { a: 'x', b: [1, 2, { c: null }] },
        { a: 'y', b: [true] },
      ],
      end: 'z',
    });
    for (let length = 1; length < text.length; length += 1) {
      const found = jsonInReply(text.slice(0, length));
      expect(found.kind).toBe('cut');
      if (found.kind === 'cut')
        expect(text.replaceAll(/["\]}]/g, '')).toContain(JSON.stringify(found.candidates[0]).replaceAll(/["\]}]/g, ''));
    }
  });
});
