/**
 * Counts the characters that regular expressions and word segmenters read while `work` runs: an amount of work that
 * does not depend on the machine. A match counts up to its end, a failure up to the end of the text.
 */
export async function charactersRead(work: () => unknown): Promise<number> {
  let count = 0;
  const restore = [
    replaceMethod(
      RegExp.prototype,
      'exec',
      (exec) =>
        function counted(this: RegExp, text: string): RegExpExecArray | null {
          const from = this.global || this.sticky ? this.lastIndex : 0;
          const found = exec.call(this, text);
          count += (found === null ? text.length : found.index + found[0].length) - from;
          return found;
        },
    ),
    replaceMethod(
      Intl.Segmenter.prototype,
      'segment',
      (segment) =>
        function counted(this: Intl.Segmenter, text: string): Intl.Segments {
          count += text.length;
          return segment.call(this, text);
        },
    ),
  ];
  try {
    await work();
  } finally {
    for (const undo of restore) undo();
  }
  return count;
}

/** Replaces a method, and returns the function that puts the original back. */
function replaceMethod<Owner extends object, Name extends keyof Owner>(
  owner: Owner,
  name: Name,
  change: (original: Owner[Name]) => Owner[Name],
): () => void {
  const original = owner[name];
  Object.defineProperty(owner, name, { value: change(original), configurable: true, writable: true });
  return () => Object.defineProperty(owner, name, { value: original, configurable: true, writable: true });
}
