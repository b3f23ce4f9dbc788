import { serverEventSchema } from '../../../server/protocol/server-events.ts';
import { orderViolations, unfinishedResponses } from '../../conformance/realtime-order.ts';
import { deadSound, heardIsHistory } from './invariants-of-sound.ts';
import { agrees, answeredEach } from './invariants-of-turns.ts';
import { wordsApart, wordsKept, wordsOnce } from './invariants-of-words.ts';
import type { PersonRun, Run } from '../world.ts';

/**
 * Checks the invariants of every run, whatever its script. Returns the violations in words; empty if there are none.
 */
export function violations(run: Run): string[] {
  return [
    ...stuckState(run),
    ...run.people.flatMap((one) => {
      return checksOfOne.flatMap((check) => check(one).map((what) => `${one.person.name}: ${what}`));
    }),
    ...wordsApart(run),
    ...faults(run),
  ];
}

const checksOfOne = [
  order,
  schema,
  terminals,
  agrees,
  ledger,
  answeredEach,
  answered,
  deadSound,
  heardIsHistory,
  wordsOnce,
  wordsKept,
];

/** Checks that everyone comes to the end of their script, and that nothing is left of their sessions. */
function stuckState({ isOver, pending, people, servers }: Run): string[] {
  const wrong = people.flatMap(({ person }) => person.vain);
  if (!isOver) wrong.push('the run is stuck: not everybody came to the end of their script');
  if (pending > 0) wrong.push(`${pending} things are still to come after everybody has gone`);
  for (const { sessions, resumableSessions } of servers) {
    if (sessions.active > 0) wrong.push(`${sessions.active} sessions are left`);
    if (resumableSessions.waiting > 0) wrong.push(`${resumableSessions.waiting} sessions still wait for their client`);
  }
  for (const { engines, person } of people) {
    for (const { running } of engines) {
      for (const [engine, count] of Object.entries(running))
        if (count !== 0) wrong.push(`${person.name}: ${count} calls of ${engine} are left`);
    }
  }
  return wrong;
}

/** Checks the order of protocol events in every session of the person. */
function order({ person: { record } }: PersonRun): string[] {
  return Array.from({ length: record.sessions }, (_, index) => orderViolations(record.eventsOf(index + 1))).flat();
}

function schema({ person: { record } }: PersonRun): string[] {
  return record.events.flatMap(({ event }) => {
    const parsed = serverEventSchema.safeParse(event);
    return parsed.success ? [] : [`${event.type} is not as the schema has it: ${parsed.error.message}`];
  });
}

/**
 * Checks that every response ends exactly once, and that every committed utterance gets exactly one transcript or
 * failure.
 */
function terminals({ person: { record, isGone }, probe }: PersonRun): string[] {
  if (isGone && probe === undefined) return [];
  const events = record.eventsOf();
  const wrong = unfinishedResponses(events).map((id) => `${id} never ended`);
  const committed = events.filter(({ type }) => type === 'input_audio_buffer.committed');
  for (const { item_id: id } of committed as unknown as { item_id: string }[]) {
    if (!record.transcripts.has(id)) wrong.push(`${id} was committed and never transcribed`);
  }
  const open = record.items.filter(({ id }) => record.retrieved.get(id)?.status === 'in_progress');
  return [...wrong, ...open.map(({ id }) => `${id} is still in progress`)];
}

/** Orders of latency stages. A reply may begin before the end of its turn. */
const stages = [
  ['endpoint_ms', 'first_audio_ms'],
  // A failure of recognition may be known before the end of the turn.
  ['transcript_ms', 'first_audio_ms'],
  ['first_token_ms', 'first_phrase_ms', 'first_audio_ms', 'heard_ms'],
];
/** Tolerance for what the client cannot know: one tick of its loudspeaker. */
const ledgerToleranceMs = 40;

/** Checks the latency breakdown of each reply: no stage comes before the one that it follows from. */
function ledger({ person: { record } }: PersonRun): string[] {
  return [...record.replies.values()].flatMap(({ id, latency = {} }) => {
    const isRow = stages.every((row) => {
      const times = row.map((stage) => latency[stage]).filter((time): time is number => typeof time === 'number');
      return times.every((time, index) => time >= (times[index - 1] ?? time) - ledgerToleranceMs);
    });
    const wrong = isRow ? [] : [`the latency of ${id} goes backwards: ${JSON.stringify(latency)}`];
    return isShared(latency)
      ? wrong
      : [...wrong, `the wait for ${id} is not all shared out: ${JSON.stringify(latency)}`];
  });
}

/** Returns whether the latency components add up to the whole wait. */
function isShared({ owners, total_ms: totalMs }: Readonly<Record<string, unknown>>): boolean {
  if (typeof totalMs !== 'number') return true;
  const shares = Object.values(owners as Readonly<Record<string, number>>);
  const sumMs = shares.reduce((sum, share) => sum + share, 0);
  return Math.abs(sumMs - totalMs) < 0.5 && shares.every((share) => share >= 0);
}

/** Checks that the last question was transcribed correctly and answered. */
function answered({ person: { record }, probe }: PersonRun): string[] {
  if (probe === undefined) return [];
  const said = [...record.transcripts.values()];
  const reply = [...record.replies.values()].at(-1);
  const wrong: string[] = [];
  // It may be preceded by audio that was delayed by a stall.
  if (!said.some((text) => text?.endsWith(probe)))
    wrong.push(`the last question was understood as ${JSON.stringify(said.at(-1))}`);
  if (reply?.status !== 'completed') wrong.push(`the last answer was ${reply?.status} ${reply?.reason}`);
  return wrong;
}

/** Checks that the server logged no internal faults except those expected by the scenario. */
function faults({ servers, scenario }: Run): string[] {
  const all = servers.flatMap((server) => server.faults);
  return all.filter((fault) => scenario.faults?.test(fault) !== true).map((fault) => `a fault: ${fault}`);
}
