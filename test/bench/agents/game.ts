import path from 'node:path';
import { actionDelaysMs } from '../../client/worklet-speaker.ts';
import { gameOutcome, gameScenario, type GameOptions } from '../../simulator/game.ts';
import { play } from '../../simulator/world.ts';
import { shareOf, summarize, type BenchRow } from '../kit/stats.ts';
import { liveRows } from './game-live.ts';
import { worldPromptCost } from './world-prompt.ts';

const bench = 'game';
/** A talk over a network like this is what the targets mean; the other rows have up to 150 ms, or none. */
const usualNetwork = { latencyMs: 20, jitterMs: 10 };

/**
 * Actions of characters in games, in virtual time: conversations over networks of up to 150 ms in which most replies are
 * cut, by speech, typing, buttons and events of the game, until `--replies N` of them were (10,000 unless given). An
 * action takes place in the client as its word is heard; what the loudspeaker has played tells which words were.
 *
 * Then `--talks N` (150) of them without a network and over a usual one, for the delays; the actions of the client's
 * audio thread; and what a change of the world costs the model. `--live`: the same delays at a live server on this
 * machine, in real time.
 */
export async function* run(args: readonly string[]): AsyncIterable<BenchRow> {
  const number = (flag: string, usual: number): number =>
    args.includes(flag) ? Number(args[args.indexOf(flag) + 1]) : usual;
  if (args.includes('--live')) return yield* liveRows();
  const wanted = number('--replies', 10_000);
  const delays = new Delays('networks of up to 150 ms');
  const sums = { interrupted: 0, told: 0, performed: 0, unheard: 0, missed: 0, believed: 0, withdrawn: 0 };
  for (let seed = 1; sums.interrupted < wanted; seed += 1) {
    const outcome = gameOutcome(await play(gameScenario(seed)));
    delays.add(outcome);
    sums.interrupted += outcome.interrupted;
    sums.told += outcome.told;
    sums.performed += outcome.performed;
    for (const wrong of ['unheard', 'missed', 'believed'] as const) {
      sums[wrong] += outcome[wrong].length;
      if (outcome[wrong].length > 0) console.error(`seed ${seed}: ${wrong} ${outcome[wrong].join(', ')}`);
    }
    sums.withdrawn += outcome.withdrawn.length;
  }
  const count = (metric: string, n: number): BenchRow => summarize(bench, metric, 'count', [n]);
  yield count('interrupted replies', sums.interrupted);
  yield count('actions told to the client', sums.told);
  yield count('actions performed', sums.performed);
  yield count('unheard actions performed (target: 0)', sums.unheard);
  yield count('heard actions not performed (target: 0)', sums.missed);
  yield count('actions in the history that were not performed (target: 0)', sums.believed);
  yield count('actions taken back with a reply that leaves nothing in the history', sums.withdrawn);
  yield* delays.rows();
  for (const [name, weather] of [
    ['no network', { latencyMs: 0, jitterMs: 0 }],
    ['20 to 30 ms each way', usualNetwork],
  ] as const)
    yield* await delaysOver(name, { weather }, number('--talks', 150));
  const samples = Array.from({ length: 5_000 }, (_, index) => 1_000 + index * 1_171);
  const { delaysMs } = await actionDelaysMs(samples, 250);
  yield summarize(bench, "sample of an action → its action, the client's audio thread", 'ms', delaysMs);
  const { extraTokens, prefixHits } = await worldPromptCost(
    path.resolve(import.meta.dirname, '../../../characters/sherlock-holmes'),
  );
  yield summarize(bench, 'extra prompt after a change of the world', 'tokens', extraTokens);
  yield shareOf(bench, 'prefix of the prompt that stays', prefixHits);
}

/** Delays of actions and of answers to the world, over one kind of network. */
class Delays {
  readonly #network: string;
  readonly #late: number[] = [];
  readonly #silent: number[] = [];
  readonly #taken: number[] = [];

  constructor(network: string) {
    this.#network = network;
  }

  add({ lateMs, silentMs, takenMs }: ReturnType<typeof gameOutcome>): void {
    this.#late.push(...lateMs);
    this.#silent.push(...silentMs);
    this.#taken.push(...takenMs);
  }

  *rows(): Iterable<BenchRow> {
    const row = (metric: string, delaysMs: readonly number[]): BenchRow =>
      summarize(bench, `${metric}, ${this.#network}`, 'ms', delaysMs);
    yield row('first sound of a word → its action, in blocks of 20 ms', this.#late);
    yield row('world → world_taken', this.#taken);
    yield row('respond: interrupt → the client falls silent', this.#silent);
  }
}

async function delaysOver(name: string, options: GameOptions, talks: number): Promise<Iterable<BenchRow>> {
  const delays = new Delays(name);
  for (let seed = 1; seed <= talks; seed += 1) delays.add(gameOutcome(await play(gameScenario(seed, options))));
  return delays.rows();
}
