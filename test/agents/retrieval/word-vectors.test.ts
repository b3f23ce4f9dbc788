import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { likenessOf, meaningOf, unknownWordsIn } from '../../../agents/retrieval/word-vectors.ts';
import { indexLines } from '../../../agents/retrieval/line-index.ts';
import { scriptedAgent } from '../../../agents/scripted/scripted.ts';
import { loadCharacters } from '../../../characters/character.ts';
import { replyParts, smallCharacter, wordsOf } from '../actor/stand-ins.ts';

const packs = await loadCharacters(path.resolve(import.meta.dirname, '../../../characters'));

function alike(left: string, right: string): number {
  const [one, other] = [meaningOf(left), meaningOf(right)];
  return one === undefined || other === undefined ? Number.NaN : likenessOf(one, other);
}

describe('word vectors', () => {
  it.each([
    ['Who raised you?', 'Who looked after you?', 'Who is your king?'],
    ['How many wounds do you have?', 'How many scars have you got?', 'How many languages do you speak?'],
    ['Where do you sleep?', 'Where are you sleeping tonight?', 'Where were you born?'],
  ])('“%s” is more like “%s” than “%s”', (asked, same, other) => {
    expect(alike(asked, same)).toBeGreaterThan(alike(asked, other) + 0.1);
  });

  it('a text is as like itself as can be, and has no meaning without a known word', () => {
    expect(alike('Tell me a joke.', 'Tell me a joke')).toBeCloseTo(1, 5);
    expect(meaningOf('你好，你是谁？')).toBeUndefined();
    expect(meaningOf('Xyqqz!')).toBeUndefined();
    expect(meaningOf('')).toBeUndefined();
  });

  it('names the words that have no vector', () => {
    expect(unknownWordsIn('What do you think of Xyqqz and tea?')).toEqual(['xyqqz']);
  });

  it('the index tells how alike a line is, and nothing of the kind in Chinese', () => {
    const lines = [
      { asks: ['Who raised you?'], reply: 'My aunt.' },
      { asks: ['Who is your king?'], reply: 'Nobody.' },
    ];
    const [first] = indexLines(lines, 'Martha')('Who looked after you?');
    expect(first?.pair.reply).toBe('My aunt.');
    expect(first?.likeness).toBeGreaterThan(0.5);
    const chinese = indexLines([{ asks: ['你是谁？'], reply: '俺是孙悟空。' }], '孙悟空')('你是谁？');
    expect(chinese).toEqual([{ pair: { asks: ['你是谁？'], reply: '俺是孙悟空。' }, fit: 1 }]);
  });

  it.each([
    ['captain-nemo', 'What did the people up there do to you?', /They took my country/],
    ['coriolanus', 'How do you say your name properly?', /Corio/],
    ['sherlock-holmes', 'Do you have a brother yourself?', /Mycroft/],
  ])('bug: %s evaded other words for a question that it has a line for: “%s”', async (id, asked, told) => {
    const pack = packs.find((each) => each.id === id) ?? smallCharacter();
    expect(wordsOf(await replyParts(scriptedAgent(pack), [asked]))).toMatch(told);
  });

  it('a card of a few lines answers other words, and neither another question nor a word that nobody knows', async () => {
    const smith = smallCharacter({
      lines: [
        { asks: ['Who raised you?', 'Who brought you up?'], reply: 'My aunt did, with a ladle.' },
        { asks: ['Who is your king?'], reply: 'Nobody, thank you.' },
        { asks: ['How many wounds do you have?'], reply: 'Two burns and a bite.' },
      ],
    });
    const answer = async (asked: string): Promise<string> => wordsOf(await replyParts(scriptedAgent(smith), [asked]));
    expect(await answer('Who looked after you?')).toBe('My aunt did, with a ladle.');
    expect(await answer('How many scars have you got?')).toBe('Two burns and a bite.');
    expect(await answer('Who is your baker?')).not.toBe('Nobody, thank you.');
    expect(await answer('How many xyqqzes do you have?')).not.toBe('Two burns and a bite.');
  });
});
