import type { ChatRequest, TextFault } from '../../fakes/servers/text-model-server.ts';
import type { KilledRun } from '../../rigs/killed-run-rig.ts';
import { writeScenes } from './small-scenes.ts';

/** About one judgment in ten is spoiled, the same ones in every run; each call also takes a moment. */
function faultAt(number: number, request: ChatRequest): TextFault | undefined {
  if (request.model !== 'judge') return undefined;
  const length = request.messages.reduce((sum, { content }) => sum + content.length, 0) % 20;
  // A full server is one for a moment: the same question is answered when it is asked again.
  return length === 3 ? 'garbled' : length === 7 ? 'refusal' : number % 10 === 9 ? 'status-429' : undefined;
}

/** A run of small scenes for tests that kill it. */
export const killedScenes = {
  options: { delayMs: 2, faultAt },
  async args(scratch: string, url: string): Promise<(folder: string) => readonly string[]> {
    const { data } = await writeScenes(scratch);
    const agent = ['--agent', `chat:${url}/v1#actor`, '--environment', `${url}/v1#world`];
    const judge = ['--judge', `${url}/v1`, '--judge-model', 'judge', '--next-speaker', `${url}/v1#chooser`];
    const common = ['--task', 'coser', '--data', data, ...agent, ...judge, '--rounds', '8', '--parse-retries', '0'];
    return (folder) => ['run', ...common, '--out', folder];
  },
} as const;

/** What an unharmed run of these scenes consists of. */
export const unharmed = { isSame: true, judged: 24, judgedOnce: 24, outputs: 6 } as const;

/** Counts what a run consists of, and compares its scores with those of the run in one piece. */
export function harmOf({ kills, results, events }: KilledRun) {
  const judged = events.flatMap((each) => (each.event === 'measured' ? [`${each.sample} ${each.ask}`] : []));
  const outputs = events.filter((each) => each.event === 'output').length;
  const isSame = results.killed === results.whole;
  return { kills, isSame, judged: judged.length, judgedOnce: new Set(judged).size, outputs };
}
