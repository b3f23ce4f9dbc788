import type { Character } from '../../characters/character.ts';
import type { Recipe } from '../prompting/recipe.ts';
import { plainTalk } from './plain-talk.ts';
import { describedToYou, isChinese, nameAndWork } from './second-person.ts';

/**
 * The benchmark's own recipe (SpeechRole §4, after ChatHaruhi and RoleLLM): a system prompt that asks to act like
 * a role of a work and describes them in the second person; the conversation unchanged, no examples, the
 * server's own sampling. The benchmark's prompts also quote script lines chosen by the reference reply; a live
 * conversation has none, so `dramatis eval` sends those prompts as they are.
 */
export const speechRole: Recipe =
  (character) =>
  (history, { scene, historyTokens = 4_000, hasTools }) => ({
    messages: plainTalk(history, { character, instruction: instruction(character), scene, hasTools, historyTokens }),
    sampling: {},
    maxTokens: 400,
  });

function instruction(character: Character): string {
  const described = describedToYou(character);
  return isChinese(character)
    ? `请扮演${character.name}（${character.work.title}），用这个人物的语气、神态和用词来回答，像本人一样知道这个人物知道的一切，不要解释，不要跳出角色。\n${described}`
    : `Act as ${nameAndWork(character)}: answer in the tone, the manner and the vocabulary of ${character.name}, know all that ${character.name} knows, explain nothing, and do not step out of the part. If a question touches the story, reuse its own lines where you can.\n${described}`;
}
