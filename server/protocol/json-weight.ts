/** Deeper nesting than any schema of a tool needs, and far less than would exhaust the stack. */
const deepest = 64;

/** Characters that a value takes as JSON, give or take its punctuation; Infinity where it is nested too deep. */
export function jsonWeight(value: unknown, depth = 0): number {
  if (depth > deepest) return Infinity;
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return String(value).length;
  return Object.entries(value).reduce((sum, [key, field]) => sum + key.length + jsonWeight(field, depth + 1), 0);
}
