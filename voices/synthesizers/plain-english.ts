/** Letters that Unicode does not decompose. */
const letters: Readonly<Record<string, string>> = {
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ß: 'ss',
  ð: 'th',
  þ: 'th',
  ł: 'l',
  đ: 'd',
  ı: 'i',
  Æ: 'Ae',
  Œ: 'Oe',
  Ø: 'O',
  Þ: 'Th',
  Ł: 'L',
  Đ: 'D',
};

/** In order: typographic characters with an ASCII equivalent, then symbols that are spoken. */
const rewrites: readonly (readonly [RegExp, string])[] = [
  [/[‘’‚‛′ʼ`´]/gu, "'"],
  [/[“”„‟″«»]/gu, '"'],
  [/(?<=\d)\s?[–—]\s?(?=\d)/gu, ' to '],
  [/\s*(?:[–—―]|--+)\s*/gu, ', '],
  [/−(?=\d)/gu, ' minus '],
  [/(?:\.\s?){3,}|…+/gu, ', '],
  [/£\s?(\d[\d,]*(?:\.\d+)?)/gu, '$1 pounds'],
  [/€\s?(\d[\d,]*(?:\.\d+)?)/gu, '$1 euros'],
  [/°/gu, ' degrees '],
  [/×/gu, ' times '],
  [/½/gu, ' and a half '],
  [/¼/gu, ' and a quarter '],
  [/[æœøßðþłđıÆŒØÞŁĐ]/gu, ''],
];

/**
 * Converts text to what Flite can read: printable ASCII. Accents are removed, symbols become words, and anything
 * without a Latin form becomes a space. The result may be empty.
 */
export function plainEnglish(text: string): string {
  let plain = text;
  for (const [pattern, replacement] of rewrites) {
    plain =
      replacement === ''
        ? plain.replaceAll(pattern, (letter) => letters[letter] ?? ' ')
        : plain.replaceAll(pattern, replacement);
  }
  return plain
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^ -~]|[*_~^|\\<>{}[\]]/gu, ' ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ (?=[,.;:!?])/g, '')
    .trim();
}
