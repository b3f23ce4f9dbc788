import type { Item } from '../../server/client/types/api.d.ts';
import { SimulatedEngines } from './engines.ts';
import { Network } from './network.ts';
import { Person } from './person.ts';
import type { Piece } from './pipe.ts';
import type { Part, Scenario } from './scenario.ts';
import { Scheduler } from './scheduler.ts';
import { SimulatedServer } from './server.ts';
import { Vocabulary } from './speech.ts';
import { update } from './step.ts';

/** Limit of a run in virtual time; a run that is not over by then is stuck. */
const longestMs = 30 * 60_000;
/** Time after the last hang-up by which every timeout of the server has passed: close frames, grace periods. */
const aftermathMs = 10 * 60_000;
/**
 * Time without events after which a conversation counts as quiet. Long enough for everything in flight on a bad line.
 */
const quietMs = 2_500;

/** A person, with everything recorded. */
export interface PersonRun {
  readonly person: Person;
  readonly part: Part;
  /** The engines of each of the person's sessions. */
  readonly engines: SimulatedEngines[];
  /** Everything that reached the client, including sequence numbers and repetitions. */
  readonly pieces: { readonly atMs: number; readonly piece: Piece }[];
  /** Words of the probe question, which a session that is not stuck transcribes and answers. */
  probe: string | undefined;
  /** Items whose final state was requested. */
  readonly asked: string[];
}

/** The result of a scenario. */
export interface Run {
  readonly scenario: Scenario;
  readonly seed: number;
  readonly durationMs: number;
  readonly vocabulary: Vocabulary;
  readonly people: readonly PersonRun[];
  /** In order; more than one if a server was killed. */
  readonly servers: readonly SimulatedServer[];
  /** True if everyone came to the end of their script in time. */
  readonly isOver: boolean;
  /** Number of timers still pending at the end. */
  readonly pending: number;
}

/** Plays a scenario in virtual time. The same seed gives the same run. */
export async function play(scenario: Scenario, seed = scenario.seed ?? 1): Promise<Run> {
  const scheduler = new Scheduler(seed);
  const vocabulary = new Vocabulary();
  const world: World = { scheduler, vocabulary, servers: [], networks: [], environment: scenario.environment ?? {} };
  startServer(world);
  const parts: [string, Part][] = [['ann', scenario], ...Object.entries(scenario.others ?? {})];
  const people = parts.map(([name, part]) => prepare(name, part, world));
  let living = people.length;
  const lives = people.map(async ({ live }) => {
    await live(scenario.endsAlone === true);
    living -= 1;
  });
  const isOver = await scheduler.run(() => living === 0, longestMs);
  const durationMs = scheduler.now();
  await scheduler.run(() => false, durationMs + aftermathMs);
  if (isOver) await Promise.all(lives);
  const { pending } = scheduler;
  const { servers } = world;
  return { scenario, seed, durationMs, vocabulary, people: people.map(({ run }) => run), servers, isOver, pending };
}

/** State shared by the people of a run. */
interface World {
  readonly scheduler: Scheduler;
  readonly vocabulary: Vocabulary;
  /** In order; the last one is running. */
  readonly servers: SimulatedServer[];
  readonly networks: Network[];
  readonly environment: Readonly<Record<string, string>>;
}

function startServer({ servers, scheduler, environment }: World): void {
  servers.push(new SimulatedServer(scheduler, environment));
}

function killServer(world: World): void {
  for (const network of world.networks) network.cut();
  world.servers.at(-1)?.die();
  startServer(world);
}

interface Prepared {
  readonly run: PersonRun;
  readonly live: (endsAlone: boolean) => Promise<void>;
}

function prepare(name: string, part: Part, world: World): Prepared {
  const { scheduler, vocabulary, servers } = world;
  const engines: SimulatedEngines[] = [];
  const pieces: PersonRun['pieces'] = [];
  const enginesFor = (): SimulatedEngines => {
    const opened = new SimulatedEngines({ scheduler, vocabulary, script: part.engines ?? {}, person: name });
    engines.push(opened);
    return opened;
  };
  const network = new Network(
    {
      scheduler,
      serve: (socket, url) => {
        if (part.client === 'plain') url.searchParams.delete('x');
        servers.at(-1)?.serve(socket, url, name, enginesFor);
      },
      onPiece: (piece) => pieces.push({ atMs: scheduler.now(), piece }),
    },
    part.weather,
  );
  world.networks.push(network);
  const person = new Person({
    name,
    scheduler,
    vocabulary,
    network,
    sendsSilence: part.sendsSilence !== false,
    chunkMs: part.chunkMs ?? 40,
    stopServer: (graceMs) => void servers.at(-1)?.stop(graceMs),
    killServer: () => killServer(world),
  });
  const run: PersonRun = { person, part, engines, pieces, probe: undefined, asked: [] };
  return { run, live: (endsAlone) => live(run, part, scheduler, endsAlone) };
}

/**
 * Plays one person's conversation: the script, then silence, then the probe question to check that the session still
 * listens, then goodbye.
 */
async function live(run: PersonRun, part: Part, scheduler: Scheduler, endsAlone: boolean): Promise<void> {
  const { person } = run;
  await new Promise<void>((resolve) => scheduler.after(part.afterMs ?? 0, resolve));
  if (part.isDownMs !== undefined) person.network.cut(part.isDownMs);
  await person.begin();
  if (part.session !== undefined) await person.perform([update(part.session)]);
  await person.perform(part.script);
  if (endsAlone || person.isGone) return;
  await becomeQuiet(person, scheduler);
  await probe(run);
  await becomeQuiet(person, scheduler);
  await askForItems(run);
  person.hangUp();
}

/** Waits until nothing has happened for a while. */
async function becomeQuiet(person: Person, scheduler: Scheduler): Promise<void> {
  let sinceMs = scheduler.now();
  const isQuiet = (): boolean => {
    if (!person.isQuiet || !person.isConnected || person.record.isHearing) sinceMs = scheduler.now();
    return scheduler.now() - sinceMs >= quietMs;
  };
  await person.until(isQuiet, 'silence');
}

/**
 * Asks the probe question. A session that is not stuck transcribes it, whatever happened before, and answers it
 * completely.
 */
async function probe(run: PersonRun): Promise<void> {
  const { person } = run;
  const words = 'can you hear me';
  const { record } = person;
  // The script may have changed the turn detection settings.
  for (const engines of run.engines) engines.heal();
  await person.perform([update(listening), { do: 'unmute' }, { do: 'wait', ms: 300 }]);
  await person.perform([{ do: 'say', text: words, wordMs: 200 }]);
  run.probe = words;
  const askedMs = person.mouth.endMs;
  const isAnswered = (): boolean =>
    [...record.replies.values()].some(({ createdMs, doneMs }) => createdMs >= askedMs && doneMs !== undefined);
  await person.until(isAnswered, 'an answer to the last question', 20_000);
}

const listening = {
  output_modalities: ['audio' as const],
  audio: {
    input: {
      turn_detection: {
        type: 'server_vad' as const,
        threshold: 0.5,
        create_response: true,
        interrupt_response: true,
        idle_timeout_ms: null,
      },
    },
  },
};

/** Requests the stored items of what the character said. */
async function askForItems({ person, asked }: PersonRun): Promise<void> {
  const isSpoken = ({ type, role }: Item): boolean => type === 'message' && role === 'assistant';
  for (const { id, item } of person.record.items) {
    if (!isSpoken(item)) continue;
    asked.push(id);
    person.send({ type: 'conversation.item.retrieve', item_id: id });
  }
  await person.until(() => asked.every((id) => person.record.retrieved.has(id)), 'the items that it asked for');
}
