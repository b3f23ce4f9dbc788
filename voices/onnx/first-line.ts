/** First line of a runtime error, without its source locations. */
export function firstLineOf(fault: unknown): string {
  const text = fault instanceof Error ? fault.message : String(fault);
  return (text.split('\n')[0] ?? '')
    .replace(/^\/\S+:\d+ .*? was false\. /, '')
    .replace(/^OrtSession\w+: /, '')
    .slice(0, 300);
}
