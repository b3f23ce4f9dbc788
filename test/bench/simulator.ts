import { play } from '../simulator/world.ts';
import { violations } from '../simulator/invariants.ts';
import { babble, hear, hearOut, type Step } from '../simulator/step.ts';
import { summarize, type BenchRow } from './stats.ts';

const bench = 'simulator';

/** How fast virtual time passes: ten minutes of conversation with barge-ins, over the whole server, again and again. */
export async function* run(): AsyncIterable<BenchRow> {
  const seconds: number[] = [];
  const speed: number[] = [];
  for (let round = 0; round < 8; round += 1) {
    const script: Step[] = Array.from({ length: 60 }, (_, turn) =>
      turn % 4 === 3 ? [babble(4), hear(4)] : [babble(6), hearOut],
    ).flat();
    const startMs = performance.now();
    const played = await play({ name: 'ten minutes', script }, round + 1);
    const realMs = performance.now() - startMs;
    for (const what of violations(played)) console.error(what);
    // The first rounds are compiled while they run.
    if (round < 2) continue;
    seconds.push((realMs / played.durationMs) * 600);
    speed.push(played.durationMs / realMs);
  }
  yield summarize(bench, 'ten minutes of conversation take', 's', seconds);
  yield summarize(bench, 'virtual seconds in a real second', 's', speed);
}
