import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { messageKey } from '../../agents/retrieval/paraphrases.ts';
import { languageOf } from '../../agents/retrieval/words.ts';
import { loadCharacters } from '../../characters/character.ts';

const packs = await loadCharacters(path.resolve(import.meta.dirname, '../../characters'));

/** Text that cannot be spoken: markup, stage directions, links, symbols that stand for words. */
const unspeakable = /[*_#`~<>[\]{}|\\^=+@&%$€£()]|https?:|\d|\p{Extended_Pictographic}/u;

it('every shipped pack loads', () => {
  expect(packs.map((pack) => pack.id)).toEqual(
    expect.arrayContaining([
      'abraham-lincoln',
      'alice',
      'captain-nemo',
      'coriolanus',
      'd-artagnan',
      'queen-elizabeth-i',
      'sherlock-holmes',
      'sun-wukong',
    ]),
  );
});

describe.each(packs.map((pack) => [pack.id, pack] as const))('pack %s', (_id, pack) => {
  const spoken = [...pack.lines.map((pair) => pair.reply), ...pack.greetings, ...pack.evasions, ...pack.repeatRequests];

  it('a shipped pack has at least 80 lines, in the languages of its card', () => {
    expect(pack.lines.length).toBeGreaterThanOrEqual(80);
    const languages = new Set(pack.lines.map((pair) => pair.language ?? pack.languages[0]));
    expect(languages).toEqual(new Set(pack.languages));
  });

  it('a shipped pack also describes its character in the second person, without its name, and not as another person', () => {
    const { description2 = '', name, languages } = pack;
    expect(description2).toMatch(languages[0] === 'zh' ? /^你/ : /^You /);
    for (const part of name.split(/[\s·]+/).filter((word) => word.length > 2)) expect(description2).not.toContain(part);
    expect(description2).not.toContain(name);
    expect(description2).not.toMatch(/\b(?:he|she|him|himself|herself)\b|[他她]/iu);
  });

  it('no user line occurs twice in a shipped pack', () => {
    const asks = pack.lines.flatMap((pair) =>
      pair.asks.map((ask) =>
        ask
          .toLowerCase()
          .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
          .trim(),
      ),
    );
    expect(asks.filter((ask, index) => asks.indexOf(ask) !== index)).toEqual([]);
  });

  it('no two lines of a shipped pack have triggers that the index cannot distinguish', () => {
    const rows = pack.lines.map((pair) => new Set(pair.asks.map(messageKey)));
    const keys = rows.flatMap((row) => [...row]);
    expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual([]);
  });

  it('no reply occurs twice in a shipped pack', () => {
    expect(new Set(spoken).size).toBe(spoken.length);
  });

  it('replies of a shipped pack can be spoken, and are short', () => {
    expect(spoken.filter((text) => unspeakable.test(text))).toEqual([]);
    expect(spoken.filter((text) => text.length > 320)).toEqual([]);
  });

  it('replies of a shipped pack are in their stated language', () => {
    const wrong = pack.lines.filter((pair) => {
      const language = pair.language ?? pack.languages[0];
      return [...pair.asks, pair.reply].some((text) => languageOf(text, pack.languages) !== language);
    });
    expect(wrong).toEqual([]);
    expect(pack.greetings.filter((text) => languageOf(text, pack.languages) !== pack.languages[0])).toEqual([]);
  });

  it('a shipped pack has an evasion in each of its languages', () => {
    for (const language of pack.languages) {
      const evasions = pack.evasions.filter((text) => languageOf(text, pack.languages) === language);
      expect(evasions.length).toBeGreaterThanOrEqual(6);
    }
  });
});
