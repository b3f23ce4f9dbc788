import { describe, expect, it } from 'vitest';
import { sentenceBleu } from '../../../eval/text-metrics/bleu.ts';
import { lowerCaseSentences } from '../../../eval/text-metrics/lower-case-sentences.ts';
import { treebankTokens } from '../../../eval/text-metrics/treebank.ts';

describe('BLEU', () => {
  it('BLEU gives the golden value: precisions 7/8, 4/7, 3/6, 2/5 and the brevity penalty', () => {
    const reference = 'you shall not leave this castle before the morning';
    const candidate = 'you shall not leave this house before morning';
    const expected = Math.exp(-1 / 8) * ((7 / 8) * (4 / 7) * (3 / 6) * (2 / 5)) ** 0.25;
    expect(sentenceBleu(candidate, reference)).toBeCloseTo(expected, 12);
    expect(sentenceBleu(candidate, reference)).toBeCloseTo(0.4963, 4);
  });

  it('BLEU is 0 if n-grams of some length have no match, and 1 for the same text', () => {
    expect(sentenceBleu('you shall leave', 'you shall not leave')).toBe(0);
    expect(sentenceBleu('', 'you shall not leave')).toBe(0);
    expect(sentenceBleu('You shall not leave!', 'you shall not leave !')).toBe(1);
  });

  it('BLEU counts a repeated n-gram as often as the reference has it', () => {
    const [reference, candidate] = ['one two three four', 'one two three four one two three four'];
    const expected = ((4 / 8) * (3 / 7) * (2 / 6) * (1 / 5)) ** 0.25;
    expect(sentenceBleu(candidate, reference)).toBeCloseTo(expected, 12);
  });

  // What `word_tokenize` of NLTK 3.8 gives for the same texts.
  it.each([
    ['You can’t; he’s here.', ['you', 'can', '’', 't', ';', 'he', '’', 's', 'here', '.']],
    ["You can't; he's here.", ['you', 'ca', "n't", ';', 'he', "'s", 'here', '.']],
    ['Mr. Holmes, 1,500 pounds (or so)!', ['mr.', 'holmes', ',', '1,500', 'pounds', '(', 'or', 'so', ')', '!']],
    ['I cannot... wait -- "gonna"', ['i', 'can', 'not', '...', 'wait', '--', '``', 'gon', 'na', "''"]],
    ["'Tis the dogs' home.", ["'t", 'is', 'the', 'dogs', "'", 'home', '.']],
    ['Fool:\n"Why?"', ['fool', ':', "''", 'why', '?', "''"]],
  ])('BLEU divides %s as in the Penn Treebank', (text, tokens) => {
    expect(treebankTokens(text)).toEqual(tokens);
  });

  // What Punkt's English model gives for them.
  it.each([
    ['he left. "no." she said', ['he left.', '"no."', 'she said']],
    ['(sighs.) mr. x came at 5. he sat', ['(sighs.)', 'mr. x came at 5. he sat']],
    ['so am i. he... said? "eh?!" yes', ['so am i. he... said?', '"eh?!"', 'yes']],
    ['at 5. (smiles) no . yes', ['at 5.', '(smiles) no .', 'yes']],
  ])('sentences of %s end where Punkt sees their ends', (text, sentences) => {
    expect(lowerCaseSentences(text)).toEqual(sentences);
  });
});
