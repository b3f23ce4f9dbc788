import { describe, expect, it } from 'vitest';
import { constantLore, lorebookOf } from '../../../agents/prompting/lorebook.ts';
import { cardSchema } from '../../../characters/card.ts';
import { readCard } from '../../../characters/tavern/card-file.ts';
import { toPack } from '../../../characters/tavern/to-pack.ts';
import { asHistory, smallCharacter } from '../actor/stand-ins.ts';

const lore = cardSchema.shape.lorebook;
const reading = cardSchema.shape.loreReading;

function recalled(entries: unknown, said: readonly string[], how: object = {}): readonly string[] {
  const character = smallCharacter({ lorebook: lore.parse(entries), loreReading: reading.parse(how) });
  return lorebookOf(character)(asHistory(said));
}

describe('lorebook', () => {
  const boar = { keys: ['boar'], content: 'A soldier painted the boar.' };

  it('a lore entry is triggered by any of its keys in any form of the word', () => {
    expect(recalled([boar], ['Are there boars here?'])).toEqual([boar.content]);
    expect(recalled([boar], ['Are there bears here?'])).toEqual([]);
    expect(recalled([{ keys: ['野猪'], content: '招牌上画着野猪。' }], ['那头野猪是谁画的？'])).toHaveLength(1);
  });

  it('the lorebook scans as many messages as it states, and the latest mention gets the budget first', () => {
    const talk = ['The boar?', 'Yes.', 'And the weather?', 'Fair.', 'Good.'];
    expect(recalled([boar], talk, { scanDepth: 2 })).toEqual([]);
    expect(recalled([boar], talk, { scanDepth: 5 })).toEqual([boar.content]);
    const weather = { keys: ['weather'], content: 'It rains on Sundays, always.' };
    expect(recalled([boar, weather], talk, { scanDepth: 5, budgetTokens: 8 })).toEqual([weather.content]);
  });

  it('the lorebook drops the lowest priority first if the budget is short, and orders the rest', () => {
    const entries = ['c', 'a', 'b'].map((name, index) => ({
      keys: ['boar'],
      content: `Fact ${name} about it.`,
      order: index === 0 ? 3 : index,
      priority: name === 'b' ? 0 : 5,
    }));
    expect(recalled(entries, ['boar'], { budgetTokens: 10 })).toEqual(['Fact a about it.', 'Fact c about it.']);
  });

  it('an entry with secondary keys needs one of them too', () => {
    const tower = { keys: ['tower'], secondaryKeys: ['steps', 'stairs'], content: 'Ninety-nine.' };
    expect(recalled([tower], ['How old is the tower?'])).toEqual([]);
    expect(recalled([tower], ['How many steps has the tower?'])).toEqual(['Ninety-nine.']);
  });

  it('an entry can be case sensitive, and disabled entries are ignored', () => {
    const polish = { keys: ['Polish'], caseSensitive: true, content: 'Their neighbours.' };
    expect(recalled([polish], ['I polish brass'])).toEqual([]);
    expect(recalled([polish], ['a Polish song'])).toEqual(['Their neighbours.']);
    expect(recalled([{ ...boar, enabled: false }], ['boar'])).toEqual([]);
  });

  it('an entry whose key is an invalid pattern triggers nothing and breaks no turn', () => {
    const content = '@@additional_keys (?=x)\n@@exclude_keys (?<=y)\nAt the back.';
    expect(recalled([{ keys: ['boar'], regex: true, content }], ['the boar'])).toEqual(['At the back.']);
    expect(recalled([{ keys: ['heron'], regex: true, content }], ['the boar'])).toEqual([]);
  });

  it('import rejects a key that is an invalid pattern and names it', () => {
    const parsed = lore.safeParse([{ keys: ['ok', '(?=x)'], regex: true, content: 'x' }]);
    expect(parsed.error?.issues[0]).toMatchObject({ path: [0, 'keys', 1], message: expect.stringContaining('(?=') });
  });

  it('triggered entries trigger others, each once, even if they name each other', () => {
    const ring = ['one', 'two', 'three'].map((name, index, all) => ({
      keys: [name],
      content: `${name} leads to ${all[(index + 1) % all.length] ?? ''} and to ${name}`,
    }));
    expect(recalled(ring, ['one'])).toHaveLength(1);
    expect(recalled(ring, ['one'], { recursive: true })).toHaveLength(3);
  });

  it('a catastrophic regular expression costs no time', () => {
    const bomb = { keys: ['/^(([a-z])+.)+[A-Z]([a-z])+$/', '(a+)+$'], regex: true, content: 'Matched.' };
    expect(recalled([bomb], [`${'a'.repeat(20_000)}!`])).toEqual([]);
    expect(recalled([{ ...bomb, keys: ['/lamps?\\b/i'] }], ['Which LAMP?'])).toEqual(['Matched.']);
  });

  it('an unsupported regular expression is left out at import, with a note', () => {
    const card = readCard(
      {
        spec: 'chara_card_v2',
        data: {
          name: 'Mara',
          character_book: {
            entries: [{ keys: ['(?<=a)b', 'ok+'], use_regex: true, content: 'x', enabled: true, insertion_order: 1 }],
          },
        },
      },
      'card',
    );
    const pack = toPack(card, 'card');
    expect(pack.card.lorebook[0]?.keys).toEqual(['ok+']);
    expect(pack.notes.join(' ')).toMatch(/lookarounds/);
  });
});

describe('decorators', () => {
  const boarWith = (content: string, more: object = {}): object => ({ keys: ['boar'], content, ...more });

  it.each([
    ['@@activate_only_after 2\nFact.', ['boar'], 0],
    ['@@activate_only_after 1\nFact.', ['hello', 'hello', 'boar'], 1],
    ['@@activate_only_every 2\nFact.', ['boar'], 0],
    ['@@activate_only_every 2\nFact.', ['boar', 'yes', 'boar'], 1],
    ['@@dont_activate\nFact.', ['boar'], 0],
    ['@@activate\nFact.', ['hello'], 1],
    ['@@additional_keys pig, swine\nFact.', ['a swine'], 1],
    ['@@exclude_keys painted\nFact.', ['who painted the boar'], 0],
    ['@@scan_depth 5\nFact.', ['boar', 'yes', 'so', 'yes', 'so'], 1],
    ['@@keep_activate_after_match\nFact.', ['boar', 'a', 'b', 'c', 'd', 'e', 'f'], 1],
    ['@@dont_activate_after_match\nFact.', ['boar', 'yes', 'boar'], 0],
    ['@@dont_activate_after_match\nFact.', ['boar'], 1],
    ['@@depth 4\n@@role system\nFact.', ['boar'], 1],
    ['@@of_another_program x\n@@@dont_activate\nFact.', ['boar'], 0],
    ['@@activate\n@@@dont_activate\nFact.', ['hello'], 1],
  ])('the decorator %j is parsed as %j', (content, talk, count) => {
    const found = recalled([boarWith(content)], talk);
    expect(found).toHaveLength(count);
    for (const fact of found) expect(fact).toBe('Fact.');
  });

  it('constant entries are in the persona in their order, and those with conditions are triggered instead', () => {
    const entries = lore.parse([
      { keys: [], constant: true, content: 'Second.', order: 2 },
      { keys: [], constant: true, content: '@@role system\nFirst.', order: 1 },
      { keys: [], constant: true, content: '@@activate_only_after 1\nLater.' },
    ]);
    const character = smallCharacter({ lorebook: entries, loreReading: reading.parse({}) });
    expect(constantLore(character)).toEqual(['First.', 'Second.']);
    expect(lorebookOf(character)(asHistory(['hello']))).toEqual([]);
    expect(lorebookOf(character)(asHistory(['hello', 'yes', 'so']))).toEqual(['Later.']);
  });
});
