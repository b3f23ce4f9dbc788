import type { Message } from '../chat.ts';

/** Deterministic 32-bit hash of a text (FNV-1a). */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}

/**
 * Picks one of the lines by a hash of the user message and the length of the conversation, so the same history always
 * gets the same line. Skips lines that the character has already said, until all are used; then repeats the one said
 * longest ago.
 */
export function chooseLine(lines: readonly string[], history: readonly Message[]): string {
  const said = history.filter((message) => message.role === 'assistant').map((message) => message.text);
  const fresh = lines.filter((line) => !said.some((text) => isSameLine(text, line)));
  const userMessage = history.findLast((message) => message.role === 'user')?.text ?? '';
  const chosen = fresh[hashOf(`${userMessage}\n${history.length}`) % Math.max(1, fresh.length)];
  if (chosen !== undefined) return chosen;
  const lastSaid = (line: string): number => said.findLastIndex((text) => isSameLine(text, line));
  return lines.toSorted((left, right) => lastSaid(left) - lastSaid(right))[0] ?? '';
}

/** True if the texts are equal, or if `heard` is the part of `line` said before an interruption. */
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
