import type { DialoguePair } from '../../characters/card.ts';
import type { Character } from '../../characters/character.ts';
import type { Message } from '../chat.ts';
import { indexLines } from '../retrieval/line-index.ts';
import { personaWords } from '../prompting/persona-words.ts';
import { sceneOf } from '../prompting/prompt.ts';
import type { Recipe } from '../prompting/recipe.ts';
import { atLastUserMessage, directionsIn, talkWindow } from '../prompting/talk-window.ts';
import { estimateTokens } from '../llm/token-estimate.ts';
import { withPreface } from './plain-talk.ts';
import { describedToYou, isChinese, nameAndWork } from './second-person.ts';

const mostChunks = 19;
const chunkTokens = 1_500;
const talkTokens = 1_200;

/**
 * ChatHaruhi 2.0 as coded: a system prompt, one message of classic scenes (at most the 19 nearest chunks, as many as
 * fit 1,500 tokens, in the form `Name:「…」`, `###` after each), then the conversation, newest first, up to 1,200 tokens.
 * The original finds scenes by embeddings; we use BM25 and embeddings together if an embedder is configured, otherwise
 * BM25. If the newest pair alone exceeds the budget, the original sends the whole conversation; we send that pair.
 */
export const chatHaruhi: Recipe = (character) => {
  const find = indexLines(character.lines, character.name);
  return (history, { scene = '', historyTokens = talkTokens, hasTools = false, near }) => {
    const budget = Math.min(talkTokens, historyTokens);
    const { before, userMessage = '', after } = atLastUserMessage(talkWindow(history, budget));
    const parts = [
      instruction(character),
      hasTools ? personaWords(character).functions : '',
      sceneOf([scene, ...directionsIn(history)]),
    ];
    const scenes = scenesOf(character, near?.lines ?? find(userMessage).map(({ pair }) => pair));
    const said = before.map((message): Message =>
      message.role === 'tool' ? message : quotedMessage(message, character),
    );
    const last = quoted(visitor(character), userMessage === '' ? '……' : userMessage);
    return {
      messages: [
        { role: 'system', text: parts.filter(Boolean).join('\n\n') },
        ...withPreface(scenes, said, last),
        ...after,
      ],
      sampling: { temperature: 0.5 },
      maxTokens: 400,
    };
  };
};

function instruction(character: Character): string {
  const described = describedToYou(character);
  return isChinese(character)
    ? `请扮演${character.name}（${character.work.title}）。经典场景里${character.name}怎么说话，你就怎么说话；与情节有关的问题，尽量用原来的台词。只写${character.name}说的话，写成：${quoted(character.name, '……')}\n${described}`
    : `Act as ${nameAndWork(character)}. Speak as ${character.name} speaks in the classic scenes; where a question touches the story, reuse its own lines. Write only what ${character.name} says, in the form ${quoted(character.name, '...')}\n${described}`;
}

function scenesOf(character: Character, pairs: readonly DialoguePair[]): string {
  let spentTokens = 0;
  const chunks: string[] = [];
  for (const pair of pairs.slice(0, mostChunks)) {
    const chunk = `${quoted(visitor(character), pair.asks[0] ?? '')}\n${quoted(character.name, pair.reply)}`;
    spentTokens += estimateTokens(chunk);
    if (spentTokens > chunkTokens) break;
    chunks.push(`${chunk}\n###\n`);
  }
  const title = isChinese(character) ? '这个人物的经典场景：' : 'Classic scenes of the part:';
  return `${title}\n${chunks.join('')}`.trim();
}

function quotedMessage(message: Exclude<Message, { readonly role: 'tool' }>, character: Character): Message {
  if (message.role === 'assistant') return { ...message, text: quoted(character.name, message.text) };
  return { ...message, text: quoted(visitor(character), message.text) };
}

function visitor(character: Character): string {
  return isChinese(character) ? '客人' : 'Visitor';
}

function quoted(name: string, text: string): string {
  return `${name}:「${text}」`;
}
