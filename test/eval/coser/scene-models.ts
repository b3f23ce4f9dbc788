import { createHash } from 'node:crypto';
import { dimensions } from '../../../eval/coser/penalties.ts';
import { lastOf, type ChatRequest } from '../../fakes/servers/text-model-server.ts';

/** A number from a request: the same request gets the same answer in every run. */
function numberOf(request: ChatRequest, below: number): number {
  return createHash('sha256').update(JSON.stringify(request.messages)).digest().readUInt32LE(0) % below;
}

const replies = ['Who goes there?', 'I know nothing of a pie.', 'Ask the mate, not me.', 'It was cold in the kitchen.'];

/** Models that act a scene of `small-scenes.ts` and judge it. */
export const sceneModels: Readonly<Record<string, (request: ChatRequest) => string>> = {
  actor: (request) => `[This stays with me.] (looks up) ${replies[numberOf(request, replies.length)]}`,
  world: () => 'The stove ticks.',
  chooser(request) {
    const names = ['Ada', 'Ben', 'Environment', 'random', '<END CHAT>', 'the captain'];
    return `They go on.\n**Next Speaker:** ${names[numberOf(request, names.length)]}`;
  },
  judge(request) {
    const system = request.messages[0]?.content ?? '';
    const { name } = dimensions.find((each) => system.includes(`one respect only: ${each.name}`)) ?? dimensions[0];
    const length = numberOf(request, 3) + (lastOf(request).length > 0 ? 1 : 0);
    const flaws = Array.from({ length }, (_, at) => ({ instance: `place ${at}`, type: name, severity: 1 + at }));
    return JSON.stringify({ [name]: { flaws } });
  },
};
