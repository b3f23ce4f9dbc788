import { RE2JS } from 're2js';
import { CharacterError } from './character-error.ts';

const slashed = /^\/(.*)\/([a-z]*)$/su;

/**
 * Compiles a lorebook key that is a regular expression, bare or as `/pattern/flags` (flags i, m, s; others have no
 * effect). Matching time is linear in the text, since patterns are untrusted. Throws `CharacterError` for an invalid
 * pattern, or one with look-around or backreferences.
 */
export function lorePattern(key: string, caseSensitive: boolean): (text: string) => boolean {
  const [, inside = key, letters = ''] = slashed.exec(key) ?? [];
  let flags = letters.includes('i') || !caseSensitive ? RE2JS.CASE_INSENSITIVE : 0;
  if (letters.includes('m')) flags |= RE2JS.MULTILINE;
  if (letters.includes('s')) flags |= RE2JS.DOTALL;
  try {
    const compiled = RE2JS.compile(inside, flags);
    return (text) => compiled.matcher(text).find();
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CharacterError(
      `lorebook key ${key.slice(0, 80)}: ${why}; lookarounds and backreferences are not supported`,
      { cause },
    );
  }
}
