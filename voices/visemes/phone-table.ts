import type { Viseme } from '../synthesizer.ts';

/** One shape of the mouth; the weight is 1 unless given. */
export type Shape = readonly [viseme: Viseme, weight?: number];

/** Share of a diphthong after which the mouth turns to its second shape. */
export const diphthongTurn = 0.6;

/** IPA of the 41 sounds of Flite (ARPABET); a pause is empty. */
const ipaOfArpabet: Readonly<Record<string, string>> = Object.fromEntries(
  (
    'pau: p:p b:b m:m f:f v:v th:θ dh:ð t:t d:d k:k g:ɡ ch:tʃ jh:dʒ sh:ʃ zh:ʒ s:s z:z n:n ng:ŋ l:l r:ɹ er:ɝ aa:ɑ ah:ʌ ' +
    'ae:æ eh:ɛ ey:eɪ ax:ə hh:h ih:ɪ iy:i y:j ao:ɔ ow:oʊ oy:ɔɪ uh:ʊ uw:u w:w ay:aɪ aw:aʊ'
  )
    .split(' ')
    .map((entry) => entry.split(':') as [string, string]),
);

/** IPA symbols of each shape, one or two letters each; those of two letters win over those of one. */
const symbols: readonly (readonly [Shape, string])[] = [
  [['PP'], 'p b m ɓ ʙ ʘ'],
  [['FF'], 'f v ɸ β ʋ ɱ ⱱ'],
  [['TH'], 'θ ð'],
  [['DD'], 't d ɾ ʈ ɖ ɗ ɽ ᶑ ǀ ǃ ǂ ǁ c ɟ ʄ'],
  [['kk'], 'k ɡ g q x χ ɣ ɢ ʛ ɠ ʀ ħ ʕ ç ʝ'],
  [['CH'], 'tʃ dʒ ʃ ʒ ɕ ʑ ʂ ʐ tɕ dʑ tʂ dʐ ɧ ʧ ʤ ʨ ʥ'],
  [['SS'], 's z ts dz ɬ ɮ ʦ ʣ'],
  [['nn'], 'n ŋ ɲ ɳ ɴ l ɫ ʎ ɭ ʟ ɺ'],
  [['RR'], 'ɹ r ʁ ɻ ɚ ɝ ɜ ɞ'],
  [['aa'], 'ɑ a ɐ ʌ æ ɒ ɶ'],
  [['E'], 'ɛ ε e ə ɘ ᵻ'],
  [['E', 0.25], 'h ɦ ʔ ʡ ʢ'],
  [['ih'], 'ɪ i j ɨ ɿ ʅ'],
  [['oh'], 'ɔ o ø œ ɵ ɤ'],
  [['ou'], 'ʊ u w ɯ y ʏ ɥ ʍ ʉ ɰ ʮ ʯ'],
];

const shapes = new Map(symbols.flatMap(([shape, list]) => list.split(' ').map((symbol) => [symbol, shape] as const)));

const vowels = 'ɑaɐʌæɒɶɛεeəɘᵻɪiɨɔoøœɵɤʊuɯyʏʉɚɝɜɞɿʅ';

/** Stress, length, tone, tie bars, and everything else that leaves the place of the lips as it is. */
const marks = /[ˈˌːˑˠˤʰʱʲʷⁿˡ˞ʼ'`´˥-˩↗↘↑↓|‖.‿\d\p{M}\s:;!?*_,^~"()=-]/gu;

/** Returns the IPA of an ARPABET sound; undefined for an unknown one. */
export function ipaFromArpabet(sound: string): string | undefined {
  return ipaOfArpabet[sound];
}

/** One symbol of a sound in IPA. */
export interface Segment {
  readonly shape: Shape;
  readonly isVowel: boolean;
  /** False if the table has no row for it: its shape is a guess. */
  readonly isKnown: boolean;
}

/** Splits a sound in IPA into its symbols, the longest first; a silence has none. */
export function segmentsOf(sound: string): Segment[] {
  const letters = Array.from(sound.normalize('NFD').replaceAll(marks, ''));
  const found: Segment[] = [];
  for (let index = 0; index < letters.length;) {
    const letter = letters[index] as string;
    const pair = shapes.get(letter + (letters[index + 1] ?? ''));
    const shape = pair ?? shapes.get(letter);
    const isVowel = vowels.includes(letter) || /^[aeiou]$/iu.test(letter);
    found.push({ shape: shape ?? (isVowel ? ['E'] : ['DD']), isVowel, isKnown: shape !== undefined });
    index += pair === undefined || letters[index + 1] === undefined ? 1 : 2;
  }
  return found;
}
