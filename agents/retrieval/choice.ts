import type { Message } from '../chat.ts';
import { bareText } from './words.ts';

/** Latest replies that are compared with a line to be said, so that it is not said twice. */
const maxComparedReplies = 200;

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
  const said = history
    .filter((message) => message.role === 'assistant')
    .slice(-maxComparedReplies)
    .map((message) => bareText(message.text));
  const placeOf = (line: string): number => {
    const plain = bareText(line);
    return said.findLastIndex((text) => isBeginning(text, plain));
  };
  const places = new Map(lines.map((line) => [line, placeOf(line)]));
  const fresh = lines.filter((line) => places.get(line) === -1);
  const userMessage = history.findLast((message) => message.role === 'user')?.text ?? '';
  const chosen = fresh[hashOf(`${userMessage}\n${history.length}`) % Math.max(1, fresh.length)];
  if (chosen !== undefined) return chosen;
  return lines.toSorted((left, right) => (places.get(left) ?? 0) - (places.get(right) ?? 0))[0] ?? '';
}

/** True if the texts are equal, or if `heard` is the part of `line` said before an interruption. */
export function isSameLine(heard: string, line: string): boolean {
  return isBeginning(bareText(heard), bareText(line));
}

function isBeginning(heard: string, line: string): boolean {
  return heard === line || (heard.length >= 8 && line.startsWith(heard));
}
