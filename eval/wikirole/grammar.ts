export type Parser = 'strict' | 'tolerant';

/**
 * Reads the name in a judge's closing sentence: strictly as the released code does, or tolerantly the last bracket that
 * contains a candidate, with any marks around the name. Undefined if there is none.
 */
export function nameIn(text: string, candidates: readonly string[], parser: Parser): string | undefined {
  if (parser === 'strict') return /(?:most suitable role is |最符合的角色为)\[(.*)\]/.exec(text)?.[1];
  const names = [...text.matchAll(/[[【「]([^[\]【】「」]+)[\]】」]/g)].map((match) => match[1] ?? '');
  const closing = /(?:most suitable role is|最符合的角色[为是])[:：\s]*([^\n]+)$/iu.exec(text.trimEnd())?.[1];
  const found = [...names, ...(closing === undefined ? [] : [closing])].findLast((name) => pick(name, candidates));
  return found === undefined ? undefined : pick(found, candidates);
}

function pick(name: string, candidates: readonly string[]): string | undefined {
  const wanted = plain(name);
  return candidates.find((candidate) => plain(candidate) === wanted);
}

function plain(name: string): string {
  return name
    .replaceAll(/[*_"'“”‘’`[\]]/g, '')
    .trim()
    .replace(/[.。]+$/, '')
    .toLowerCase();
}

/** Reads whether the judge sees a refusal: strictly the whole reply, or tolerantly its first digit if it is short. */
export function refusalIn(text: string, parser: Parser): 0 | 1 | undefined {
  const digit = parser === 'strict' ? /^([01])$/.exec(text)?.[1] : shortDigit(text);
  return digit === undefined ? undefined : digit === '1' ? 1 : 0;
}

function shortDigit(text: string): string | undefined {
  if (text.trim().length > 40) return /^[\s*"]*([01])[\s*".。]*$/m.exec(text)?.[1];
  return /(?<!\d)([01])(?!\d|\.\d)/.exec(text)?.[1];
}

/** Reads a grade: strictly the integer of the last line, or tolerantly the last number (`8/10`, `8.5`). */
export function gradeIn(text: string, parser: Parser): number | undefined {
  if (parser === 'strict') {
    const line = (text.split('\n').at(-1) ?? '').replace('Score: ', '').trim();
    return /^[+-]?\d+$/.test(line) ? Number(line) : undefined;
  }
  const ofTen = [...text.matchAll(/(\d+(?:\.\d+)?)\s*\/\s*10(?!\d)/g)].at(-1)?.[1];
  const last = [...text.matchAll(/\d+(?:\.\d+)?/g)].at(-1)?.[0];
  const isLast = ofTen !== undefined && /\/\s*10\D*$/.test(text);
  const number = isLast ? ofTen : last;
  return number === undefined ? undefined : Number(number);
}
