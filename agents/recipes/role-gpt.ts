import type { Character } from '../../characters/character.ts';
import type { Message } from '../chat.ts';
import { indexLines } from '../retrieval/line-index.ts';
import type { Recipe } from '../prompting/recipe.ts';
import { plainTalk } from './plain-talk.ts';
import { describedToYou, isChinese, nameAndWork } from './second-person.ts';

const shotCount = 5;

/**
 * RoleGPT of RoleLLM (Wang et al. 2023, §3.3): a system instruction with description and catchphrases, the five
 * exchanges of the profile nearest to the user message by BM25 as earlier turns, temperature 0.7, top-p 0.95, 200
 * tokens. BM25 alone, as in the paper, even if an embedder is configured: results under this name must measure RoleGPT.
 */
export const roleGpt: Recipe = (character) => {
  const find = indexLines(character.lines, character.name);
  return (history, { scene, historyTokens = 1_500, hasTools }) => ({
    messages: plainTalk(history, {
      instruction: instruction(character),
      scene,
      hasTools,
      historyTokens,
      // The nearest comes last, next to the user message. The examples change with the message, so a prefix cache only
      // covers the instruction before them.
      shotsFor: (userMessage) =>
        find(userMessage)
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
