/** Stages of a turn, in order, with what a reader calls them. */
const stages = [
  ['endpoint_ms', 'endpoint'],
  ['transcript_ms', 'final transcript'],
  ['first_token_ms', 'first token'],
  ['first_phrase_ms', 'first phrase'],
  ['first_audio_ms', 'first audio'],
] as const;

/** A latency ledger as bars: each stage from where the one before ended, all counted from the end of speech. */
export function waterfall(latency: Readonly<Record<string, number | string | null>>, width = 40): string {
  const known = stages.flatMap(([key, label]) => {
    const value = latency[key];
    return typeof value === 'number' ? [{ label, atMs: value }] : [];
  });
  const longest = Math.max(1, ...known.map((stage) => stage.atMs));
  let fromMs = 0;
  return known
    .map(({ label, atMs }) => {
      const start = Math.round((fromMs / longest) * width);
      const end = Math.max(start + 1, Math.round((atMs / longest) * width));
      fromMs = Math.max(fromMs, atMs);
      const bar = ' '.repeat(start) + '█'.repeat(end - start);
      return `  ${label.padEnd(17)}${bar.padEnd(width + 1)} ${atMs.toFixed(0).padStart(6)} ms`;
    })
    .join('\n');
}
