import { shareOf, type BenchShare } from '../kit/stats.ts';
import { incursions, countedAsTurn, yielded, yieldMs, type Played } from './turns-panel.ts';

/** Time within which a reply must be silent once the interruption is certain. */
const stopWithinMs = 250;

/** The targets, and whether each is reached: one row each, named after it. */
export function* targetsOf(all: readonly Played[]): Iterable<BenchShare> {
  const interruptions = all.filter(({ scene }) => scene.kind === 'interruption');
  const real = interruptions.filter(({ scene }) => scene.variety !== 'one word');
  yield* target('yields, recordings', real, yielded, 0.95);
  yield* target('yields, with embedded one-word commands', interruptions, yielded, 0.95);
  const nods = all.filter(({ scene }) => scene.kind === 'backchannel' && scene.over);
  yield* target('goes on under backchannels', nods, (one) => !countedAsTurn(one), 0.8);
  const turns = all.filter(({ scene }) => scene.kind === 'turn' || scene.kind === 'turn with pauses');
  yield* target('does not talk into turns', turns, (one) => incursions(one, { pauses: false }) === 0, 0.92);
  const stops = interruptions.filter(yielded);
  yield* target(`silent within ${stopWithinMs} ms of certainty`, stops, stopsSoon, 0.95);
}

function stopsSoon(played: Played): boolean {
  const times = yieldMs(played);
  return times !== undefined && times.silentMs - times.decidedMs <= stopWithinMs;
}

function* target(
  name: string,
  played: readonly Played[],
  isRight: (one: Played) => boolean,
  least: number,
): Iterable<BenchShare> {
  if (played.length === 0) return;
  const row = shareOf('turns', '', played.map(isRight));
  yield { ...row, metric: `target ≥ ${least} ${row.share >= least ? 'met' : 'MISSED'}: ${name}` };
}
