const scripts: readonly (readonly [RegExp, readonly string[]])[] = [
  [/[\p{Script=Hiragana}\p{Script=Katakana}]/gu, ['ja']],
  [/\p{Script=Hangul}/gu, ['ko']],
  [/\p{Script=Han}/gu, ['zh', 'yue', 'ja']],
  [/\p{Script=Cyrillic}+/gu, ['ru', 'uk']],
  [/\p{Script=Latin}+/gu, ['en', 'fr', 'de', 'es', 'it', 'pt']],
];

/** The offered tag (BCP 47) of the script with most characters, a Latin or Cyrillic word being one; else the first. */
export function languageOf(text: string, offered: readonly string[]): string {
  const [most] = scripts
    .map(([signs, languages]) => ({ count: text.match(signs)?.length ?? 0, languages }))
    .toSorted((left, right) => right.count - left.count);
  const fitting =
    most === undefined || most.count === 0
      ? undefined
      : offered.find((tag) => most.languages.includes(tag.split('-')[0] ?? tag));
  return fitting ?? offered[0] ?? 'en';
}
