import type { Run } from './world.ts';

/** Everything that happened in a run, in its order, one line each: to see how it came to what went wrong. */
export function traceOf(run: Run): string[] {
  const lines: { readonly atMs: number; readonly text: string }[] = [];
  for (const { person } of run.people) {
    const note = (atMs: number, what: string): void => void lines.push({ atMs, text: `${person.name} ${what}` });
    for (const { word, startMs, endMs } of person.mouth.said)
      note(startMs, `says “${word?.text ?? '(cough)'}” until ${Math.round(endMs)}`);
    for (const { word, atMs } of person.speaker.heard) note(atMs, `hears “${word.text}”`);
    for (const { atMs, type } of person.record.connection) note(atMs, `is ${type}`);
    for (const [itemId, atMs] of person.record.cuts) note(atMs, `cuts ${itemId}`);
    for (const { atMs, event } of person.record.events) {
      if (event.type === 'response.output_audio.delta') continue;
      const { type, x_seq: _sequence, x_ms: madeMs, event_id: _id, ...facts } = event;
      note(atMs, `is told ${type} (${String(madeMs)}) ${JSON.stringify(facts).slice(0, 160)}`);
    }
  }
  lines.sort((one, other) => one.atMs - other.atMs);
  return lines.map(({ atMs, text }) => `${String(Math.round(atMs)).padStart(6)} ${text}`);
}
