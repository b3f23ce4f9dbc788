/** Division of a text into tokens; `set` divides like `words`, and is a variant of ROUGE-L. */
export const tokenKinds = ['words', 'marks', 'alnum', 'han', 'set'] as const;
export type TokenKind = (typeof tokenKinds)[number];

/**
 * Divides a text into tokens. `words`: at white space, case kept. `marks`: also behind question marks, and
 * behind the marks that end a Chinese sentence. `alnum`: lower case, runs of a to z and 0 to 9, so that
 * Chinese has none. `han`: each Han character, and runs as in `alnum`.
 */
export function tokensOf(text: string, kind: TokenKind): readonly string[] {
  if (kind === 'alnum') return text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  if (kind === 'han') return text.toLowerCase().match(/\p{Script=Han}|[a-z0-9]+/gu) ?? [];
  return kind === 'marks' ? cutAtMarks(text) : text.split(/\s+/).filter(Boolean);
}

/** As the PyPI package `rouge-chinese` 1.0.3 does: a blank line with spaces in it is a token without letters. */
function cutAtMarks(text: string): string[] {
  return text
    .replaceAll(/([。！？?])([^”’])/gu, '$1\n$2')
    .replaceAll(/(\.{6}|…{2})([^”’])/gu, '$1\n$2')
    .replaceAll(/([。！？?][”’])([^，。！？?])/gu, '$1\n$2')
    .trimEnd()
    .split('\n')
    .filter((line) => line !== '')
    .flatMap((line) => line.trim().split(/\s+/u));
}

/** True if at least a tenth of a text is Han. */
export function isChinese(text: string): boolean {
  const han = text.match(/\p{Script=Han}/gu)?.length ?? 0;
  return han > 0 && han * 10 >= text.length;
}
