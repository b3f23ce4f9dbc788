import { seededRandom } from '../../eval/statistics.ts';
import type { Scenario } from './scenario.ts';
import { babble, cough, hear, hearOut, interrupt, send, wait, write, type Step } from './step.ts';
import type { Run } from './world.ts';

const wordsPerReply = 10;

/** The actions on offer; each carries the number of its word. */
const args = { properties: { n: { type: 'integer' as const } }, required: ['n'] };
const actions = [
  { name: 'mark', about: 'marks the word', args },
  { name: 'leave', about: 'goes', args, when: 'end' as const },
];

/** How many replies, and over which network; by default half of all seeds have one of up to 150 ms, and half none. */
export interface GameOptions {
  readonly replies?: number;
  readonly weather?: Scenario['weather'];
}

/**
 * A conversation in a game: in each reply some words have an action, and most replies are cut in one of the ways in which
 * a reply can be. Words with an action are called `m` and a number, others `u`.
 */
export function gameScenario(seed: number, { replies = 8, weather }: GameOptions = {}): Scenario {
  const chance = seededRandom(seed);
  const integer = (least: number, most: number): number => Math.floor(least + chance() * (most - least + 1));
  const thinks = Array.from({ length: 3 * replies }, (_, reply) => {
    const words = Array.from({ length: wordsPerReply }, (__, place) => {
      const n = reply * wordsPerReply + place;
      const end = place % 5 === 4 ? '.' : '';
      return chance() < 0.5 ? `(mark n=${n}) m${n}${end}` : `u${n}${end}`;
    });
    return { says: `${words.join(' ')} (leave n=${reply})` };
  });
  const ways: readonly ((turn: number) => readonly Step[])[] = [
    () => [babble(3, 200)],
    () => [babble(2, 250)],
    () => [interrupt],
    () => [write(`note ${integer(1, 9)}`)],
    () => [send({ type: 'response.cancel' })],
    (turn) => [
      send({ type: 'x_dramatis.world', id: `w${turn}`, events: [{ text: 'An alarm.' }], respond: 'interrupt' }),
    ],
    () => [cough(integer(60, 160)), hear(integer(1, 3), 1_500), interrupt],
    () => [hearOut],
  ];
  const script = Array.from({ length: replies }, (_, turn): readonly Step[] => {
    const way = ways[integer(0, ways.length - 1)] ?? (() => [hearOut]);
    return [babble(2, 200), hear(integer(1, wordsPerReply - 1), 4_000), wait(integer(0, 200)), ...way(turn), wait(500)];
  });
  const [latencyMs, jitterMs] = chance() < 0.5 ? [0, 0] : [integer(1, 150), integer(0, 80)];
  return {
    name: `game ${seed}`,
    seed,
    isRandom: true,
    sendsSilence: false,
    chunkMs: 100,
    session: { x_dramatis: { actions } },
    weather: weather ?? { latencyMs, jitterMs },
    engines: { thinks, usual: { wordMs: 160, firstTokenMs: 60 } },
    script: script.flat(),
  };
}

/** What came of the actions of a game. */
interface GameOutcome {
  /** Replies that were cut while they were said. */
  readonly interrupted: number;
  readonly told: number;
  readonly performed: number;
  /** Actions that took place although their word was not heard, and the other way round. */
  readonly unheard: readonly string[];
  readonly missed: readonly string[];
  /** Actions that the character believes to have done, and did not. */
  readonly believed: readonly string[];
  /** Actions that were withdrawn after they had taken place. */
  readonly withdrawn: readonly string[];
  /** From the first sound of its word to an action, in milliseconds. */
  readonly lateMs: readonly number[];
  /** From an event that interrupts to the end of its reply at the client, in milliseconds. */
  readonly silentMs: readonly number[];
  /** From a change of the world to its acknowledgement, in milliseconds, with the network. */
  readonly takenMs: readonly number[];
}

/** Compares what a person heard with what happened in the game. */
export function gameOutcome({ people }: Run): GameOutcome {
  const [{ person, engines } = { person: undefined, engines: [] }] = people;
  if (person === undefined) throw new Error('nobody took part');
  const { performed, speaker, record } = person;
  const numberOf = ({ event }: (typeof performed)[number]): string =>
    String((event as { readonly args?: { readonly n?: number } }).args?.n);
  const nameOf = ({ event }: (typeof performed)[number]): unknown => (event as { readonly name?: string }).name;
  const marks = performed.filter((each) => nameOf(each) === 'mark');
  const leaves = performed.filter((each) => nameOf(each) === 'leave').map(numberOf);
  const heardAt = new Map<string, number>();
  for (const { word, soundsMs } of speaker.heard) {
    const name = word.text.replace(/\W+$/u, '');
    // What was on hold is heard again; the action takes place the first time.
    if (!heardAt.has(name)) heardAt.set(name, soundsMs);
  }
  const isAllHeard = (reply: string): boolean =>
    Array.from({ length: wordsPerReply }, (_, place) => String(Number(reply) * wordsPerReply + place)).every(
      (n) => heardAt.has(`m${n}`) || heardAt.has(`u${n}`),
    );
  const done = new Set(marks.map(numberOf));
  const offs = record.events.flatMap(({ event, atMs }) =>
    event.type === 'x_dramatis.action_off' ? [{ id: event['action_id'], atMs }] : [],
  );
  const history = engines.at(-1)?.histories.at(-1) ?? [];
  const believed = history.flatMap(({ text }) =>
    [...text.matchAll(/\(mark n=(\d+)\)/gu)].map((match) => match[1] ?? ''),
  );
  const interrupted = [...record.replies.values()].filter(({ status }) => status === 'cancelled').length;
  const sent = person.sent.filter(({ event }) => event.type === 'x_dramatis.world');
  const acks = record.events.filter(({ event }) => event.type === 'x_dramatis.world_taken' && event['id'] !== null);
  const taken = sent.flatMap(({ event, atMs }) => {
    const ack = acks.find((one) => one.event['id'] === event['id']);
    return ack === undefined ? [] : [ack.atMs - atMs];
  });
  const cutAt = [...record.replies.values()].flatMap(({ reason, doneMs }) => {
    if (reason !== 'event' || doneMs === undefined) return [];
    const cause = sent.findLast(({ atMs }) => atMs <= doneMs);
    return cause === undefined ? [] : [{ sentMs: cause.atMs, doneMs }];
  });
  return {
    interrupted,
    told: record.events.filter(({ event }) => event.type === 'x_dramatis.action').length,
    performed: performed.length,
    unheard: [
      ...[...done].filter((n) => !heardAt.has(`m${n}`)).map((n) => `mark ${n}`),
      ...leaves.filter((reply) => !isAllHeard(reply)).map((reply) => `leave ${reply}`),
    ],
    missed: [...heardAt.keys()].filter((word) => word.startsWith('m') && !done.has(word.slice(1))),
    believed: believed.filter((n) => !done.has(n)),
    withdrawn: offs.flatMap(({ id, atMs }) => {
      const act = performed.find(({ event, atMs: doneMs }) => event.action_id === id && doneMs < atMs);
      return act === undefined ? [] : [`${String(nameOf(act))} ${numberOf(act)}`];
    }),
    lateMs: marks.map((each) => each.atMs - (heardAt.get(`m${numberOf(each)}`) ?? each.atMs)),
    silentMs: cutAt.map(({ sentMs, doneMs }) => doneMs - sentMs),
    takenMs: taken,
  };
}
