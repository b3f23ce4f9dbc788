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

/** No run takes longer, in virtual time: what is not over by then is stuck. */
const longestMs = 30 * 60_000;
/** After the last has hung up, whatever the server still waits for is over: close frames, grace times. */
const aftermathMs = 10 * 60_000;
/** So long nothing happens before a conversation counts as quiet: what is on its way over a bad line has come by then. */
const quietMs = 2_500;

/** What a person was, with all that was recorded. */
export interface PersonRun {
  readonly person: Person;
  readonly part: Part;
  /** The engines of each session that the person had. */
  readonly engines: SimulatedEngines[];
  /** Everything that reached the client, numbers and repetitions included. */
  readonly pieces: { readonly atMs: number; readonly piece: Piece }[];
  /** Words of the last question, which a session that is not stuck understands and answers. */
  probe: string | undefined;
  /** Items whose final state was asked for. */
  readonly asked: string[];
}

/** What came of a scenario. */
export interface Run {
  readonly scenario: Scenario;
  readonly seed: number;
  readonly durationMs: number;
  readonly vocabulary: Vocabulary;
  readonly people: readonly PersonRun[];
  /** One after the other, where one was killed. */
  readonly servers: readonly SimulatedServer[];
  /** Whether everybody came to the end of their script in time. */
  readonly isOver: boolean;
  /** What was still to come when everything was over. */
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

/** What the people of a run share. */
interface World {
  readonly scheduler: Scheduler;
  readonly vocabulary: Vocabulary;
  /** One after the other; the last is there. */
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

/** A person's conversation: the script, then silence, then a last question to see that somebody listens, then goodbye. */
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

/** A session that is not stuck hears a question, whatever went before, and answers it to the end. */
async function probe(run: PersonRun): Promise<void> {
  const { person } = run;
  const words = 'can you hear me';
  const { record } = person;
  // How turns are found may have been changed by the script.
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

/** What the server has kept of what the character said. */
async function askForItems({ person, asked }: PersonRun): Promise<void> {
  const isSpoken = ({ type, role }: Item): boolean => type === 'message' && role === 'assistant';
  for (const { id, item } of person.record.items) {
    if (!isSpoken(item)) continue;
    asked.push(id);
    person.send({ type: 'conversation.item.retrieve', item_id: id });
  }
  await person.until(() => asked.every((id) => person.record.retrieved.has(id)), 'the items that it asked for');
}
