import { RE2JS } from 're2js';
import { CharacterError } from './character-error.ts';
import { maxPatternCharacters, maxPatternInstructions } from './limits.ts';

const slashed = /^\/(.*)\/([a-z]*)$/su;

/**
 * Compiles a lorebook key that is a regular expression, bare or as `/pattern/flags` (flags i, m, s; others have no
 * effect). Matching time is linear in the text, since patterns are untrusted. Throws `CharacterError` for an invalid
 * pattern, one that is too large, or one with look-around or backreferences.
 */
export function lorePattern(key: string, caseSensitive: boolean): (text: string) => boolean {
  const problem = patternProblem(key);
  if (problem !== undefined) throw new CharacterError(problem);
  const [, inside = key, letters = ''] = slashed.exec(key) ?? [];
  let flags = letters.includes('i') || !caseSensitive ? RE2JS.CASE_INSENSITIVE : 0;
  if (letters.includes('m')) flags |= RE2JS.MULTILINE;
  if (letters.includes('s')) flags |= RE2JS.DOTALL;
  try {
    const compiled = RE2JS.compile(inside, flags);
    return (text) => compiled.matcher(text).find();
  } catch (cause) {
    throw new CharacterError(refused(key, cause instanceof Error ? cause.message : String(cause)), { cause });
  }
}

/** Returns why a key cannot be compiled, as far as that can be seen without compiling it. */
export function patternProblem(key: string): string | undefined {
  if (key.length > maxPatternCharacters)
    return `lorebook key ${key.slice(0, 80)}: a pattern has at most ${maxPatternCharacters} characters`;
  if (patternInstructions(key) > maxPatternInstructions)
    return `lorebook key ${key.slice(0, 80)}: the pattern repeats too much; use smaller numbers in {}`;
  return /(?<!\\)\(\?(?:[=!]|<[=!])/u.test(key) ? refused(key, 'not supported by RE2') : undefined;
}

function refused(key: string, why: string): string {
  return `lorebook key ${key.slice(0, 80)}: ${why}; lookarounds and backreferences are not supported`;
}

/** Estimated size of a compiled pattern: one instruction for each character or class, as often as it is repeated. */
export function patternInstructions(key: string): number {
  const open: number[] = [0];
  let last = 0;
  const add = (size: number): void => {
    open[open.length - 1] = (open.at(-1) ?? 0) + size;
    last = size;
  };
  for (const [part] of key.matchAll(/\\[pP]\{[^}]*\}|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{\d+(?:,\d*)?\}|./gsu)) {
    if (part === '(') open.push(0);
    else if (part === ')' && open.length > 1) add(1 + (open.pop() ?? 0));
    else if (part.startsWith('{') && part.length > 1) {
      const times = Math.max(1, ...(part.match(/\d+/gu) ?? []).map(Number));
      add(last * (times - 1));
      last *= times;
    } else add(1);
  }
  return open.reduce((sum, size) => sum + size, 0);
}
