/** Maximum nesting: deeper than any tool schema needs, far less than would overflow the stack. */
const deepest = 64;

/** Returns the approximate length of a value as JSON, without punctuation; Infinity if it is nested too deep. */
export function jsonLength(value: unknown, depth = 0): number {
  if (depth > deepest) return Infinity;
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return String(value).length;
  return Object.entries(value).reduce((sum, [key, field]) => sum + key.length + jsonLength(field, depth + 1), 0);
}
