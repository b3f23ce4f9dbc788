import type { Run } from './world.ts';

/**
 * The log of a run, one line per event, in order, for debugging. Ids are numbered by first occurrence, so that the same
 * run gives the same text.
 */
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
      const { type, x_seq: _sequence, x_ms: madeMs, event_id: _id, session, ...facts } = event;
      note(atMs, `is told ${type} (${String(madeMs)}) ${session === undefined ? JSON.stringify(facts) : ''}`);
    }
  }
  lines.sort((one, other) => one.atMs - other.atMs);
  const ordinals = new Map<string, string>();
  const nameOf = (id: string): string => {
    const known = ordinals.get(id) ?? `${id.split('_')[0]}_${ordinals.size + 1}`;
    ordinals.set(id, known);
    return known;
  };
  return lines.map(({ atMs, text }) => {
    const named = text.replaceAll(/(?:item|resp|sess|event)_[\w-]{12,}/gu, nameOf).slice(0, 240);
    return `${String(Math.round(atMs)).padStart(6)} ${named}`;
  });
}
