import { violations } from '../simulator/checks/invariants.ts';
import { measuresOf, type ConversationMetrics } from '../simulator/checks/measures.ts';
import { randomScenario } from '../simulator/random-scenario.ts';
import { babble, hear, hearOut, type Step } from '../simulator/step.ts';
import { traceOf } from '../simulator/trace.ts';
import { play } from '../simulator/world.ts';
import { summarize, type BenchRow } from './kit/stats.ts';

const bench = 'simulator';

/**
 * The whole server in virtual time. By default: the speed of simulation over ten minutes of conversation with
 * barge-ins, and conversation metrics as heard by the person. `--seeds N [--from M]`: that many random conversations;
 * reports those with failures. `--seed N`: prints every event of one of them.
 */
export async function* run(args: readonly string[]): AsyncIterable<BenchRow> {
  const option = (name: string): number | undefined =>
    args.includes(name) ? Number(args[args.indexOf(name) + 1]) : undefined;
  const seed = option('--seed');
  const seeds = option('--seeds');
  if (seed !== undefined) await show(seed);
  else if (seeds === undefined) yield* tenMinutes();
  else yield* soak(option('--from') ?? 1, seeds);
}

async function show(seed: number): Promise<void> {
  const scenario = randomScenario(seed);
  const played = await play(scenario);
  console.log(JSON.stringify(scenario, undefined, 1));
  for (const line of [...traceOf(played), ...violations(played)]) console.log(line);
}

async function* soak(from: number, seeds: number): AsyncIterable<BenchRow> {
  const durations: number[] = [];
  let wrong = 0;
  for (let seed = from; seed < from + seeds; seed += 1) {
    const startMs = performance.now();
    const found = violations(await play(randomScenario(seed)));
    durations.push(performance.now() - startMs);
    if (found.length > 0) wrong += 1;
    for (const what of found) console.error(`seed ${seed}: ${what}`);
  }
  yield summarize(bench, 'conversations in which something went wrong', 'count', [wrong]);
  yield summarize(bench, 'a conversation takes', 'ms', durations);
}

async function* tenMinutes(): AsyncIterable<BenchRow> {
  const seconds: number[] = [];
  const cpuSeconds: number[] = [];
  const speed: number[] = [];
  const measures: ConversationMetrics[] = [];
  for (let round = 0; round < 8; round += 1) {
    const script: Step[] = Array.from({ length: 60 }, (_, turn) =>
      turn % 4 === 3 ? [babble(4), hear(4)] : [babble(6), hearOut],
    ).flat();
    const startMs = performance.now();
    const before = process.cpuUsage();
    const played = await play({ name: 'ten minutes', script }, round + 1);
    const realMs = performance.now() - startMs;
    const { user, system } = process.cpuUsage(before);
    for (const what of violations(played)) console.error(what);
    // The first rounds include compilation.
    if (round < 2) continue;
    seconds.push((realMs / played.durationMs) * 600);
    cpuSeconds.push(((user + system) / 1000 / played.durationMs) * 600);
    speed.push(played.durationMs / realMs);
    measures.push(measuresOf(played));
  }
  yield summarize(bench, 'ten minutes of conversation take', 's', seconds);
  yield summarize(bench, 'of these, at work', 's', cpuSeconds);
  yield summarize(bench, 'virtual seconds in a real second', 's', speed);
  const all = (pick: (one: ConversationMetrics) => readonly number[]): number[] => measures.flatMap(pick);
  const responses = all((one) => one.responseMs);
  yield summarize(bench, 'end of speech → first sound of the reply at the ear', 'ms', responses);
  yield summarize(
    bench,
    'barge-in → silence at the ear',
    'ms',
    all((one) => one.yieldMs),
  );
  yield summarize(
    bench,
    'words that history and ear differ by after an interruption',
    'words',
    all((one) => one.heardErrorWords),
  );
  yield summarize(
    bench,
    'replies that began while the person spoke',
    'share',
    measures.map((one) => one.interruptingShare),
  );
}
