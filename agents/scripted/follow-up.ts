import type { DialoguePair } from '../../characters/card.ts';
import type { Character } from '../../characters/character.ts';
import { topicTerms } from '../retrieval/words.ts';

/** Longest question that is read as a follow-up. */
export const longestFollowUp = 60;
const mostTopics = 1;

/** "It" as the subject of a question. */
const asSubject =
  /\b(?:do|does|did|is|are|was|were|can|could|will|would|has|have|had|should) (?:it|that|this|they|these|those)\b|^\W*(?:那|这)?[它]/iu;
const pronouns = /\b(it|that|this|they|them|those|these|he|she|him|her|one)\b|([它他她](?:们)?|那个|这个|那东西)/iu;
/** Phrases in which "it" stands for nothing. */
const idioms =
  /\b(?:how is it going|how's it going|what time is it|is it (?:true|raining|cold|hot|late|possible)|what is it like|what's it like|what year is it|that's|that is)\b/iu;

/** Returns the pronoun of a short question that has no subject of its own: "How fast does it go?" */
export function pronounIn(userMessage: string): string | undefined {
  if (userMessage.length > longestFollowUp || idioms.test(userMessage)) return undefined;
  const [, english, chinese] = pronouns.exec(userMessage) ?? [];
  const pronoun = english?.toLowerCase() ?? chinese;
  const topics = topicTerms(userMessage).length;
  const isBare = topics === 0 || (asSubject.test(userMessage) && topics <= (chinese === undefined ? mostTopics : 4));
  return pronoun !== undefined && isBare ? pronoun : undefined;
}

const modern =
  /\b(?:smartphones?|cell ?phones?|mobile phones?|iphones?|ipads?|laptops?|computers?|internet|web ?sites?|wi-?fi|online|email|e-mail|google|youtube|tiktok|instagram|facebook|twitter|netflix|television|tv|videos?|video games?|playstation|minecraft|aeroplanes?|airplanes?|planes?|helicopters?|rockets?|astronauts?|cars?|microwaves?|fridges?|refrigerators?|robots?|chatgpt|artificial intelligence|apps?|selfies?|podcasts?|spotify|cartoons?|(?:crime |tv )?shows|movies?|films?|bitcoin|super bowl|basketball|brexit|credit cards?|nuclear|electric cars?|satellites?|emails?)\b|手机|电脑|互联网|上网|网络|微信|视频|电视|动画片|电影|飞机|汽车|火箭|机器人|人工智能|游戏机|冰箱|微波炉|直播/iu;
/** A character who knows of nothing after this year does not know these things. */
const firstModernYear = 1900;

/** True if the message names a thing that this character cannot know. */
export function isModern(userMessage: string, { knowledge }: Character): boolean {
  return (knowledge.untilYear ?? firstModernYear) < firstModernYear && modern.test(userMessage);
}

/** A message, the user message before it, and the reply to that. */
interface Talk {
  readonly userMessage: string;
  readonly before: string;
  readonly lastReply: string;
}

export const refers =
  /\b(?:(?:which|that|this|other) one|it|that|this|they|them|those|these|he|she|him|her|his|their)\b|[它他她]/iu;

const somebody = /\b(?:he|she|him|her|they|them|his|their)\b|[他她]/iu;

const names = /(?<=[\p{Ll},] )\p{Lu}\p{Ll}+/u;

function namesIn(text: string): string[] {
  return [...text.matchAll(new RegExp(names, 'gu'))].map(([name]) => name);
}

/** True unless the message refers to something ("Who built it?"), and the line is about a thing not spoken of so far. */
export function isMeant({ asks, reply }: DialoguePair, { userMessage, before, lastReply }: Talk): boolean {
  if (!refers.test(userMessage)) return true;
  const own = new Set(topicTerms(userMessage));
  if (own.size === 0) return false;
  const earlier = new Set(topicTerms(`${before} ${lastReply}`));
  // "Who was Irene Adler, and do you admire her?" names her; a reply about somebody just named is meant, too.
  const isOfSomebody =
    somebody.test(userMessage) && !names.test(userMessage) && !namesIn(lastReply).some((name) => reply.includes(name));
  return asks.some((ask) => {
    const topics = topicTerms(ask);
    const isKnown = topics.every((topic) => own.has(topic) || earlier.has(topic));
    const isOfIt = topics.some((topic) => own.has(topic));
    return isKnown && isOfIt && (!isOfSomebody || somebody.test(ask) || topics.some((topic) => earlier.has(topic)));
  });
}
