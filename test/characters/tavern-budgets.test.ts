import { RE2JS } from 're2js';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { lorebookOf } from '../../agents/prompting/lorebook.ts';
import { cardSchema } from '../../characters/card.ts';
import { CharacterError } from '../../characters/character-error.ts';
import { maxCardPatternInstructions, maxCardPatterns } from '../../characters/limits.ts';
import { lorePattern, patternInstructions } from '../../characters/lore-pattern.ts';
import { readCard, readCardJson } from '../../characters/tavern/card-file.ts';
import { aloudOf, firstSentence } from '../../characters/tavern/plain-text.ts';
import { toPack } from '../../characters/tavern/to-pack.ts';
import { charactersRead } from '../fakes/character-count.ts';

const bomb = String.raw`(((\pL|i|k){30}){30})x`;

function cardWith(keys: readonly string[], more: object = {}): ReturnType<typeof readCard> {
  const entries = keys.map((key) => ({ keys: [key], content: 'x', use_regex: true }));
  return readCard({ name: 'Mara', description: 'A keeper.', character_book: { entries }, ...more }, 'card');
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe('patterns of a hostile lorebook', () => {
  it('20,000 patterns that repeat repeats are left out of an import without being compiled', () => {
    const compile = vi.spyOn(RE2JS, 'compile');
    const { card, notes } = toPack(cardWith(Array.from({ length: 20_000 }, () => bomb)), 'card');
    expect(card.lorebook).toEqual([]);
    expect(notes.join(' ')).toContain('the pattern repeats too much');
    expect(compile).not.toHaveBeenCalled();
  });

  it('an import compiles no more patterns than a card may have, however many it brings', () => {
    const compile = vi.spyOn(RE2JS, 'compile');
    const { card, notes } = toPack(cardWith(Array.from({ length: 20_000 }, (_, index) => `key${index}`)), 'card');
    expect(card.lorebook).toHaveLength(maxCardPatterns);
    expect(compile).toHaveBeenCalledTimes(maxCardPatterns);
    expect(notes.join(' ')).toContain('the rest is left out');
    expect(notes.length).toBeLessThanOrEqual(100);
  });

  it('all patterns of a card together have a budget of instructions', () => {
    const large = Array.from({ length: 50 }, (_, index) => `(?:[a-z]+ ){100}${index}`);
    const { card } = toPack(cardWith(large), 'card');
    const size = card.lorebook.flatMap(({ keys }) => keys).reduce((sum, key) => sum + patternInstructions(key), 0);
    expect(size).toBeGreaterThan(maxCardPatternInstructions / 2);
    expect(size).toBeLessThanOrEqual(maxCardPatternInstructions);
  });

  it('a pattern is compiled when it is first tried and not when its card is loaded', () => {
    const { card } = toPack(cardWith(['lamps?']), 'card');
    const compile = vi.spyOn(RE2JS, 'compile');
    const loaded = cardSchema.parse(JSON.parse(JSON.stringify(card)));
    const recall = lorebookOf(loaded);
    expect(compile).not.toHaveBeenCalled();
    expect(recall([{ role: 'user', text: 'Light the lamp.' }])).toEqual(['x']);
    recall([{ role: 'user', text: 'Light the lamps.' }]);
    expect(compile).toHaveBeenCalledTimes(1);
  });

  it('a pack of a hostile card that was stored earlier is refused before a pattern is compiled', () => {
    const { card } = toPack(cardWith([]), 'card');
    const entry = (key: string) => ({ keys: [key], content: 'x', regex: true });
    for (const lorebook of [[entry(bomb)], Array.from({ length: 501 }, () => entry('a')), [entry('a'.repeat(101))]])
      expect(cardSchema.safeParse({ ...card, lorebook }).success).toBe(false);
  });

  it.each([
    [bomb, 2_701],
    ['(?:lamp|light)s?', 13],
    [String.raw`\d{4}-\d{2}`, 7],
    ['[a-z]{3}', 3],
    ['/a{2,10}/i', 13],
  ])('the size of a pattern is estimated from its repeats: %s', (pattern, size) => {
    expect(patternInstructions(pattern)).toBeGreaterThanOrEqual(size);
    expect(patternInstructions(pattern)).toBeLessThan(size * 3);
  });

  it('a pattern of 101 characters is refused with an error that names the limit', () => {
    expect(() => lorePattern('a'.repeat(101), false)).toThrow(/at most 100 characters/);
    expect(() => lorePattern('a'.repeat(100), false)).not.toThrow();
    expect(() => lorePattern(String.raw`\(?=b`, false)).not.toThrow();
  });
});

describe('texts of a hostile card', () => {
  it.each([
    ['opening brackets', '['],
    ['scripts that never end', '<script>'],
    ['scripts that end', '<script>x</script>'],
    ['links', '[a](b'],
    ['quotes', '“'],
    ['angle brackets', '<'],
    ['spaces', ' '],
    ['stars', '*a'],
  ])('a greeting of 390,000 characters is read no further than what is spoken: %s', async (_, piece) => {
    const text = piece.repeat(Math.floor(390_000 / piece.length));
    expect(await charactersRead(() => aloudOf(text, 1_200))).toBeLessThan(2_000_000);
    expect(await charactersRead(() => firstSentence(text))).toBeLessThan(2_000_000);
  });

  it('only a hundred of a thousand greetings are read', async () => {
    const greetings = (count: number) =>
      Array.from({ length: count }, () => `${'['.repeat(20_000)} Come in, all of you.`);
    const work = (count: number) => {
      const card = cardWith([], { first_mes: 'Hello.', alternate_greetings: greetings(count) });
      return charactersRead(() => toPack(card, 'card'));
    };
    expect(await work(1_000)).toBeLessThan((await work(100)) * 1.1);
  });

  it('traits of 40,000 spaces are split in one pass', () => {
    const { card } = toPack(cardWith([], { personality: `shy , kind${' '.repeat(39_000)}x, stubborn` }), 'card');
    expect(card.style).toContain('stubborn');
  });

  it('scripts are never spoken, with any content', () => {
    expect(aloudOf(`<script>alert('<b>')</script>Come <STYLE a>x</STYLE > in.`, 100)).toBe('Come in.');
  });
});

describe('JSON of a hostile card', () => {
  it('half a million wrong values are counted and refused before a schema reads them', () => {
    const notes = Object.fromEntries(Array.from({ length: 500_000 }, (_, index) => [index, 1]));
    const json = JSON.stringify({ name: 'Mara', description: 'x', creator_notes_multilingual: notes });
    expect(() => readCardJson(json, 'card')).toThrow(/more than 300000 values/);
  });

  it('an error names the first issues of a card and not each of 200,000', () => {
    const notes = Object.fromEntries(Array.from({ length: 200_000 }, (_, index) => [index, 1]));
    const read = (): unknown => readCard({ name: 'Mara', creator_notes_multilingual: notes }, 'card');
    expect(read).toThrow(CharacterError);
    try {
      read();
    } catch (fault) {
      expect(String(fault).length).toBeLessThan(500);
    }
  });
});
