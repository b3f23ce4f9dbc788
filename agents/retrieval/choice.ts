import type { Message } from '../chat.ts';

/** A whole number that depends on nothing but the text (FNV-1a, 32 bits). */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}

/**
 * One of the lines, by a hash of what was said and of how long the talk is: the same history always gets the same line.
 * Lines the character has said are passed over, until all are used; then the one said longest ago comes round again.
 */
export function chooseLine(lines: readonly string[], history: readonly Message[]): string {
  const said = history.filter((message) => message.role === 'assistant').map((message) => message.text);
  const fresh = lines.filter((line) => !said.some((text) => isSameLine(text, line)));
  const remark = history.findLast((message) => message.role === 'user')?.text ?? '';
  const chosen = fresh[hashOf(`${remark}\n${history.length}`) % Math.max(1, fresh.length)];
  if (chosen !== undefined) return chosen;
  const lastSaid = (line: string): number => said.findLastIndex((text) => isSameLine(text, line));
  return lines.toSorted((left, right) => lastSaid(left) - lastSaid(right))[0] ?? '';
}

/** True where one text is the other, or the part of it that was heard before an interruption. */
export function isSameLine(heard: string, line: string): boolean {
  const [left, right] = [bare(heard), bare(line)];
  return left === right || (left.length >= 8 && right.startsWith(left));
}

function bare(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
