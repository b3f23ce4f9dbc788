import type { Character } from '../../characters/character.ts';
import type { Message } from '../chat.ts';
import { indexLines } from '../retrieval/line-index.ts';
import type { Recipe } from '../prompting/recipe.ts';
import { plainTalk } from './plain-talk.ts';
import { describedToYou, isChinese, nameAndWork } from './second-person.ts';

const shotCount = 5;

/**
 * RoleGPT of RoleLLM (Wang et al. 2023, §3.3): a system instruction with description and catchphrases, the five exchanges of the
 * profile that BM25 finds nearest to the remark as turns that were had, temperature 0.7, top-p 0.95, 200 tokens. BM25 alone, as the
 * paper has it, also where an embedder is configured: what is measured by this name is RoleGPT.
 */
export const roleGpt: Recipe = (character) => {
  const find = indexLines(character.lines, character.name);
  return (history, { scene, historyTokens = 1_500, hasTools }) => ({
    messages: plainTalk(history, {
      instruction: instruction(character),
      scene,
      hasTools,
      historyTokens,
      // The nearest stands last, next to the remark. The shots change with the remark, so only the instruction before them is reused.
      shotsFor: (remark) =>
        find(remark)
          .slice(0, shotCount)
          .toReversed()
          .flatMap(({ pair }): Message[] => [
            { role: 'user', text: pair.asks[0] ?? '' },
            { role: 'assistant', text: pair.reply },
          ]),
    }),
    sampling: { temperature: 0.7, topP: 0.95 },
    maxTokens: 200,
  });
};

function instruction(character: Character): string {
  const described = describedToYou(character);
  return isChinese(character)
    ? `请像${character.name}那样说话。你的设定：${described}\n回答时要显出这个人物的性格，语气完全像这个人物本人，始终只有这一个人物的身份，不要提到自己是人工智能或语言模型，也不要啰唆或过分客气。`
    : `Speak as ${nameAndWork(character)} would. Your description is: ${described}\nLet every answer show this personality, in the manner of speech that belongs to it. You have this one personality and no other: never say that you are an AI or a language model, and be neither wordy nor formal nor overly polite.`;
}
