/** Each with the language assumed if nothing else is known; Japanese is recognized by its kana. */
const scripts = [
  { name: 'kana', language: 'ja', pattern: /[\p{Script=Hiragana}\p{Script=Katakana}]/gu },
  { name: 'han', language: 'zh', pattern: /\p{Script=Han}/gu },
  { name: 'hangul', language: 'ko', pattern: /\p{Script=Hangul}/gu },
  { name: 'cyrillic', language: 'ru', pattern: /\p{Script=Cyrillic}/gu },
  { name: 'arabic', language: 'ar', pattern: /\p{Script=Arabic}/gu },
  { name: 'hebrew', language: 'he', pattern: /\p{Script=Hebrew}/gu },
  { name: 'greek', language: 'el', pattern: /\p{Script=Greek}/gu },
  { name: 'devanagari', language: 'hi', pattern: /\p{Script=Devanagari}/gu },
  { name: 'bengali', language: 'bn', pattern: /\p{Script=Bengali}/gu },
  { name: 'tamil', language: 'ta', pattern: /\p{Script=Tamil}/gu },
  { name: 'thai', language: 'th', pattern: /\p{Script=Thai}/gu },
  { name: 'georgian', language: 'ka', pattern: /\p{Script=Georgian}/gu },
  { name: 'armenian', language: 'hy', pattern: /\p{Script=Armenian}/gu },
] as const;

/** A script of this table; `latin` and `other` cover the rest. */
export type Script = (typeof scripts)[number]['name'] | 'latin' | 'other';

/** Writing system of a text. */
export interface Writing {
  /** The script of most non-Latin letters, or `latin`; undefined if there are no letters. */
  readonly script: Script | undefined;
  /** The language assumed for that script, a BCP 47 primary tag. */
  readonly language: string;
  /** Share of Latin letters among all letters, 0 to 1; 1 if there are none. */
  readonly latinShare: number;
}

/** The script of a text's letters; digits and marks do not count. Kana among Chinese characters mean Japanese. */
export function writingOf(text: string): Writing {
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  const latin = text.match(/\p{Script=Latin}/gu)?.length ?? 0;
  const latinShare = letters === 0 ? 1 : latin / letters;
  if (letters === 0 || latin >= letters)
    return { script: letters === 0 ? undefined : 'latin', language: 'en', latinShare };
  let most: Writing = { script: 'other', language: 'en', latinShare };
  let count = 0;
  for (const { name, language, pattern } of scripts) {
    const found = text.match(pattern)?.length ?? 0;
    if (name === 'kana' && found > 0) return { script: name, language, latinShare };
    if (found <= count) continue;
    count = found;
    most = { script: name, language, latinShare };
  }
  return most;
}
