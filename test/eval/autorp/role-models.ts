import { createHash } from 'node:crypto';
import { lastOf, type ChatRequest } from '../../fakes/servers/text-model-server.ts';

/** A number from a request: the same request gets the same answer in every run. */
function numberOf(request: ChatRequest, below: number): number {
  return createHash('sha256').update(JSON.stringify(request.messages)).digest().readUInt32LE(0) % below;
}

const verdicts: readonly (readonly [RegExp, (request: ChatRequest) => object])[] = [
  [/"character"/, (request) => ({ character: numberOf(request, 2) === 0 ? 'brave, kind' : 'brave，勇敢' })],
  [/"style"/, () => ({ style: 'plain, 直率' })],
  [/"happiness"/, () => ({ happiness: 5, sadness: 0, disgust: 1, fear: 1, surprise: 0, anger: 8 })],
  [/"快乐"/, () => ({ 快乐: 5, 悲伤: 0, 厌恶: 1, 恐惧: 1, 惊讶: 0, 愤怒: 8 })],
  [/"relationship"/, () => ({ relationship: 4.5 })],
  [/"personality"/, () => ({ personality: 'INTJ' })],
  [/"answer"/, () => ({ answer: 'B' })],
  [/"is_real_dialogue"/, (request) => ({ is_real_dialogue: numberOf(request, 2) === 0 ? 'true' : 'false' })],
  [/"is_coherent"/, () => ({ is_coherent: 'true' })],
];

/** Models that play a role, its partner and the judge. */
export const roleModels: Readonly<Record<string, (request: ChatRequest) => string>> = {
  actor: (request) => `I am here, and I stay: ${request.messages.length}.\nA second line that does not count.`,
  partner: (request) => `What now? ${request.messages.length}`,
  judge(request) {
    const prompt = lastOf(request);
    const [, verdict] = verdicts.find(([mark]) => mark.test(prompt.slice(-200))) ?? [];
    return `Because of what was said.\n${JSON.stringify(verdict?.(request) ?? {})}`;
  },
};
