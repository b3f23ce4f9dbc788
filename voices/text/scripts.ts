/** Scripts told apart, with the language that is assumed where nothing else is known. Japanese is known by its kana. */
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

/** A script of this table; `latin` and `other` stand for the rest. */
export type Script = (typeof scripts)[number]['name'] | 'latin' | 'other';

/** How a text is written. */
export interface Writing {
  /** The script of most letters that are not Latin, else `latin`; undefined where there are no letters. */
  readonly script: Script | undefined;
  /** The language assumed for that script, a BCP 47 primary tag. */
  readonly language: string;
  /** Letters of the Latin script, from 0 to 1 of all; 1 where there are none. */
  readonly latinShare: number;
}

/** Looks at the letters of a text; digits and marks do not count. Kana among Chinese characters means Japanese. */
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
