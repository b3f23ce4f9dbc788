import type { Character } from '../../characters/character.ts';
import type { Message } from '../chat.ts';
import { searchTerms } from '../retrieval/words.ts';
import type { DialoguePair } from '../../characters/card.ts';
import type { Recipe } from '../prompting/recipe.ts';
import { plainTalk } from './plain-talk.ts';
import { describedToYou, isChinese, nameAndWork } from './second-person.ts';

const shotCount = 5;

/**
 * RoleGPT of RoleLLM (Wang et al. 2023, §3.3): a system instruction with description and catchphrases, the five
 * exchanges of the profile nearest to the user message by BM25 as earlier turns, temperature 0.7, top-p 0.95, 200
 * tokens. Plain Okapi BM25 over the questions, and always five: results under this name must measure RoleGPT, not our
 * own retrieval.
 */
export const roleGpt: Recipe = (character) => {
  const nearest = okapi(character.lines);
  return (history, { scene, historyTokens = 1_500, hasTools }) => ({
    messages: plainTalk(history, {
      character,
      instruction: instruction(character),
      scene,
      hasTools,
      historyTokens,
      // The nearest comes last, next to the user message. The examples change with the message, so a prefix cache only
      // covers the instruction before them.
      shotsFor: (userMessage) =>
        nearest(userMessage)
          .toReversed()
          .flatMap(({ ask, pair }): Message[] => [
            { role: 'user', text: ask },
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

interface Exchange {
  readonly pair: DialoguePair;
  readonly ask: string;
}

const saturation = 1.2;
const lengthShare = 0.75;

/** Ranks exchanges by Okapi BM25 (Robertson) over each of their questions, and returns the first five, matching or not. */
function okapi(pairs: readonly DialoguePair[]): (userMessage: string) => readonly Exchange[] {
  const exchanges = pairs.flatMap((pair) => pair.asks.map((ask) => ({ pair, ask })));
  const documents = exchanges.map(({ ask }) => searchTerms(ask));
  const counts = documents.map((terms) => Map.groupBy(terms, (term) => term));
  const meanLength = Math.max(
    1,
    documents.reduce((sum, { length }) => sum + length, 0) / Math.max(1, documents.length),
  );
  return (userMessage) => {
    const terms = [...new Set(searchTerms(userMessage))].map((term) => {
      const containing = counts.filter((count) => count.has(term)).length;
      return { term, rarity: Math.log(1 + (documents.length - containing + 0.5) / (containing + 0.5)) };
    });
    const scored = exchanges.map((exchange, at) => {
      const lengthPart = 1 - lengthShare + (lengthShare * (documents[at]?.length ?? 0)) / meanLength;
      const score = terms.reduce((sum, { term, rarity }) => {
        const count = counts[at]?.get(term)?.length ?? 0;
        return sum + (rarity * count * (saturation + 1)) / (count + saturation * lengthPart);
      }, 0);
      return { exchange, score };
    });
    const best = scored.toSorted((a, b) => b.score - a.score).map(({ exchange }) => exchange);
    return [...Map.groupBy(best, ({ pair }) => pair).values()].flatMap((of) => of.slice(0, 1)).slice(0, shotCount);
  };
}
