import type { Item } from '../../../server/client/types/api.d.ts';
import { transcriptOf } from './invariants-of-sound.ts';
import type { PersonRun, Run } from '../world.ts';

/**
 * A person's conversation (by default, the first person's) as stored by the server, without the probe question and its
 * answer.
 */
export function historyOf(run: Run, person = 0): string[] {
  const one = run.people[person];
  if (one === undefined) return [];
  const lines = one.person.record.items.map(({ id, item }) => lineOf(one, id, item));
  return lines.slice(0, one.probe === undefined ? undefined : -2).filter((line) => line !== '');
}

/** Status and reason with which each reply ended, without the reply to the probe question. */
export function repliesOf({ person, probe }: PersonRun): string[] {
  const ends = [...person.record.replies.values()].map(({ status, reason }) => `${status} ${reason ?? ''}`.trim());
  return probe === undefined ? ends : ends.slice(0, -1);
}

/** Differences between a run and the expectations of its scenario. */
export function wrongWith(run: Run): string[] {
  const { expect: wanted } = run.scenario;
  const [first] = run.people;
  if (wanted === undefined || first === undefined) return [];
  const differs = (what: string, is: readonly string[], expected: readonly string[] | undefined): string[] =>
    expected === undefined || JSON.stringify(is) === JSON.stringify(expected)
      ? []
      : [`${what}: ${JSON.stringify(is)}, expected ${JSON.stringify(expected)}`];
  return [
    ...differs('history', historyOf(run), wanted.history),
    ...differs('replies', repliesOf(first), wanted.replies),
    ...differs('errors', first.person.record.errors, wanted.errors),
    ...differs(
      'sessions',
      [String(first.person.record.sessions)],
      wanted.sessions === undefined ? undefined : [String(wanted.sessions)],
    ),
    ...(wanted.also?.(run) ?? []).filter((what): what is string => typeof what === 'string'),
  ];
}

function lineOf({ person: { record } }: PersonRun, id: string, item: Item): string {
  const known = record.retrieved.get(id) ?? item;
  const spoken = record.transcripts.get(id) ?? transcriptOf(known);
  const written = known.content?.map(({ text }) => text ?? '').join('') ?? '';
  const text = spoken === undefined || spoken === '' ? written : spoken;
  return `${known.role ?? known.type}: ${text}`.trim();
}
