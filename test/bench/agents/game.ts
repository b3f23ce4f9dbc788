import { gameOutcome, gameScenario } from '../../simulator/game.ts';
import { play } from '../../simulator/world.ts';
import { summarize, type BenchRow } from '../kit/stats.ts';

const bench = 'game';

/**
 * Actions of characters in games, in virtual time: conversations over networks of up to 150 ms in which most replies are
 * cut, by speech, typing, buttons and events of the game, until `--replies N` of them were (10,000 unless given). An
 * action takes place in the client as its word is heard; what the loudspeaker has played tells which words were.
 */
export async function* run(args: readonly string[]): AsyncIterable<BenchRow> {
  const wanted = args.includes('--replies') ? Number(args[args.indexOf('--replies') + 1]) : 10_000;
  const late: number[] = [];
  const silent: number[] = [];
  const taken: number[] = [];
  const sums = { interrupted: 0, told: 0, performed: 0, unheard: 0, missed: 0, believed: 0, withdrawn: 0 };
  for (let seed = 1; sums.interrupted < wanted; seed += 1) {
    const outcome = gameOutcome(await play(gameScenario(seed)));
    late.push(...outcome.lateMs);
    silent.push(...outcome.silentMs);
    taken.push(...outcome.takenMs);
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
  yield summarize(bench, 'first sound of a word → its action, in blocks of 20 ms', 'ms', late);
  yield summarize(bench, 'world → world_taken, with the network', 'ms', taken);
  yield summarize(bench, 'respond: interrupt → the client falls silent, with the network', 'ms', silent);
}
