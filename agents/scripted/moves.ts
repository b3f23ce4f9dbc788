import type { DialoguePair, FollowUpKind } from '../../characters/card.ts';
import type { Character } from '../../characters/character.ts';
import type { Message } from '../chat.ts';
import { sentencesOf } from '../memory/facts.ts';
import { languageOf, searchTerms, topicTerms, weakTopics, isAskedIn } from '../retrieval/words.ts';
import { chooseLine, isSameLine } from '../retrieval/choice.ts';
import { lastQuestionOf } from './acts/acts.ts';
import { followUpKind, isModern, lineSaid, pronounIn } from './follow-up.ts';
import { topicOf } from './line-search.ts';
import { isStated, ofOneView, shapeOf, yesOrNoOf, type Shape } from './shapes.ts';
import type { StockLines } from './stock-lines.ts';

/** Picks an evasion, in the given language if the card has one, that was not used before in this conversation. */
export function evasion(character: Character, history: readonly Message[], language: string): string {
  return chooseLine(evasionsIn(character, language), history);
}

function evasionsIn({ evasions, languages }: Character, language: string): readonly string[] {
  const inLanguage = evasions.filter((line) => languageOf(line, languages) === language);
  return inLanguage.length > 0 ? inLanguage : evasions;
}

/** Evasions with these words suit a statement only. */
const ofStatement =
  /\b(?:may be so|agree|wager|cheer|bold way|be otherwise|bet upon|you say it|one hears)\b|有意思|主意/iu;
/** Questions that an evasion in the character's own words suits; others get an answer of their shape. */
const open: ReadonlySet<Shape> = new Set(['what', 'tell']);
/** Questions that are not evaded twice in a row; a request or a plea for advice is answered as one. */
const sought: ReadonlySet<Shape> = new Set([
  ...open,
  'who',
  'where',
  'when',
  'why',
  'how',
  'number',
  'opinion',
  'either',
  'whether',
  'whether-you',
]);
/** Questions about what the character has just spoken of that the user may judge. */
const judged: ReadonlySet<Shape> = new Set(['whether', 'whether-you', 'opinion']);

/** A message that no line answers, and the talk before it. */
export interface Unanswered {
  readonly character: Character;
  readonly lines: readonly DialoguePair[];
  readonly history: readonly Message[];
  readonly language: string;
  readonly stock: StockLines;
  readonly userMessage: string;
  /** The user message before this one. */
  readonly before: string;
  readonly lastReply: string;
}

/**
 * Answers a message that no line fits, by its shape: declines a question or a request, receives a statement; every other
 * time in the character's own words where they suit. A second question in a row without an answer gets a line about
 * another subject, if possible one that was touched on.
 */
export function moveOn(unanswered: Unanswered): string {
  const { character, lines, history, language, stock, before, userMessage } = unanswered;
  const shape = answeredShapeOf(unanswered);
  const own = evasionsIn(character, language);
  if (isStated(shape)) return received(unanswered, shape);
  const wasEvaded = isAskedIn(before) && isEvasion(unanswered, own);
  const other = wasEvaded && sought.has(shape) ? otherSubject(lines, history, language) : undefined;
  if (other !== undefined) return fill(stock.tells, history, { topic: other.topic, line: other.reply });
  if (judged.has(shape) && pronounIn(userMessage) !== undefined && isOwnLine(unanswered))
    return chooseLine(stock.judges, history);
  const kind = wasEvaded ? undefined : askedOfTold(unanswered);
  if (kind !== undefined) return chooseLine(stock.followUps[kind], history);
  const short = shape === 'whether-you' ? yesOrNoOf(lastSentenceOf(userMessage)) : undefined;
  if (short !== undefined) return chooseLine(stock.yesOrNo[short], history);
  const suited = own.filter((line) => !ofStatement.test(line));
  const isOpen = open.has(shape) && !wasEvaded;
  return chooseLine(isOpen && suited.length > 0 ? suited : stock.shapes[shape], history);
}

/** True if the last reply was an evasion: one of the card's own, or a stock line that tells nothing. */
function isEvasion({ lastReply, stock }: Unanswered, own: readonly string[]): boolean {
  const ofShapes = Object.entries(stock.shapes).flatMap(([shape, texts]) => (isStated(shape as Shape) ? [] : texts));
  const others = [stock.followUps, stock.yesOrNo].flatMap((each) => Object.values(each).flat());
  return (
    own.some((each) => isSameLine(lastReply, each)) || isMove([...ofShapes, ...others, ...stock.judges], lastReply)
  );
}

/** Aspect that a short message asks of the line that answered the question before it. */
function askedOfTold({ before, lastReply, lines, userMessage }: Unanswered): FollowUpKind | undefined {
  const told = isAskedIn(before) ? lineSaid(lines, lastReply) : undefined;
  return told && followUpKind(userMessage, `${told.asks.join(' ')} ${told.reply} ${before}`);
}

/** The shape by which an unanswered message is met. */
function answeredShapeOf({ userMessage, lines }: Unanswered): Shape {
  const last = lastShapeOf(userMessage);
  // "Are you taller than me? I'm five foot."
  const shape = isStated(last) && isAskedIn(userMessage) ? shapeOf(lastQuestionOf(userMessage)) : last;
  // "Do you think that he will come?" asks for yes or no.
  if (shape === 'opinion' && ofOneView.test(lastSentenceOf(userMessage))) return 'whether';
  const isKnown = shape === 'knowing' && !/\bdid you know\b/iu.test(userMessage) && isSpokenOf(userMessage, lines);
  return isKnown ? 'whether-you' : shape;
}

/** True if the last reply is a line of the pack. */
export function isOwnLine({ lines, lastReply }: Pick<Unanswered, 'lines' | 'lastReply'>): boolean {
  return lineSaid(lines, lastReply) !== undefined;
}

/** Receives a statement: with sympathy, a nod, or words that invite more. */
function received(unanswered: Unanswered, shape: Shape): string {
  const { before, character, history, stock, lastReply, userMessage } = unanswered;
  if (trouble.test(userMessage) && ofCharacter.test(userMessage)) return fill(stock.acts.pity ?? [], history, {});
  const comforts = stock.acts.trouble ?? [];
  if (trouble.test(userMessage) && shape !== 'you' && !isMove(comforts, lastReply))
    return chooseLine(comforts, history);
  if (understandable.test(userMessage) && !/\byour?\b|你/iu.test(userMessage))
    return chooseLine(stock.understood, history);
  if (isReaction(userMessage) && shape === 'remark') return chooseLine(stock.reactions, history);
  const isUnknown =
    (isAskedIn(before) && isModern(before, character)) ||
    isMove([...stock.unknownThings, ...stock.yoursToTell, ...stock.shapes.knowing], lastReply);
  if (isUnknown && explains.test(userMessage)) return chooseLine(stock.explained, history);
  return chooseLine(stock.shapes[shape], history);
}

/** "I would have been screaming the whole way", "I could never do that." */
const understandable =
  /^\W*(?:(?:oh|well|honestly|ha|wow|hm+|huh)\W+)*i(?:['’]d (?!(?:like|love) (?:to|a|an|some)\b)| would (?!like|love)| could(?: never|n['’]t)| don['’]t think i could| wish my)\b|^(?:要是|换了|换成)?我(?:可|早|肯定).{0,3}(?:不敢|疯|受不了|吓)|^(?:要是|换了|换成)我/iu;

/** Tells what a thing is or does: "You ride it with your feet." */
const explains =
  /^\W*(?:oh |well |so )*(?:it|they|those|these|we|people|that|you (?:can|just|use|need|have to|\p{L}+ (?:on |in |to |at |with )?(?:it|them|one)))\b|^(?:就|那|它|是)/iu;

/** True if a line of the character has a topic of the message: it would not say that the thing is new to it. */
function isSpokenOf(userMessage: string, lines: readonly DialoguePair[]): boolean {
  const topics = topicTerms(userMessage).filter((topic) => !weakTopics.has(topic));
  return lines.some(({ asks, reply }) => {
    const terms = new Set(searchTerms(`${asks.join(' ')} ${reply}`));
    return topics.some((topic) => terms.has(topic));
  });
}

/** A remark of a few words, which receives no more than a nod. */
function isReaction(userMessage: string): boolean {
  const words = userMessage.match(/\p{Script=Han}|[\p{L}'’]+/gu) ?? [];
  return (
    words.length <= (/\p{Script=Han}/u.test(userMessage) ? 5 : 3) &&
    !/\d|^\W*(?:it|he|she|they|there|this|we|i)\b/iu.test(userMessage)
  );
}

const trouble =
  /(?<!\b(?:no|not|never|without|n['’]t) (?:a |any |really |even )?|n['’]t (?:really |even )?)\b(?:hurts?|pain|aches?|killing me|broken?|stole|stolen|cheat(?:ed|ing)|forgot|divorced?|accident|missing|died|quit|fired|nightmare|dizzy|sick|trouble|problems?|alone|can['’]?t (?:stand|bear|sleep)|fed up|annoy(?:s|ed|ing)|failed|we lost|ran away|hates? (?:me|it)|disappointed|(?:me|going) crazy|worse|worst|cry|crying|cried|scares? me|misse?s? (?:him|her|them)|(?:never got|(?:do not|don['’]t|can['’]t) get) (?:along|on) with|(?:do(?:es)?n['’]t|won['’]t) (?:talk|speak)(?: to (?:me|us|her|him|each other))?(?: any ?more)?|laughed at me|(?:never|do(?:es)?n['’]t) listens? to (?:me|us)|left (?:me|us)|my [^.]{1,20} (?:is|are) (?:bad|worse|broken|empty)|hard time|difficult|(?:is|are|was|were|been|went|taken|lying|still) (?:in|to) (?:the |a )?hospital|debts?|bleeding|burnt?|lonely|afraid)\b|疼|痛|失望|难过|吵架|偷|丢了|生病|住院|不理我|骂我|没考上|烦|难受|压力|倒霉|孤单|失眠/iu;

/** "It must have hurt when they banished you", "That sounds like a lot to carry by yourself": no trouble of the user's. */
const ofCharacter =
  /^\W*(?:oh |well |but )*(?:it|that|this) (?:must|sounds?|seems?|(?:can|could)(?:not|n['’]t))\b(?!.*\b(?:i|me|my)\b)|\bfor you\W*$|^\W*(?:那|这)?(?:你|一定|肯定).{0,12}(?:难受|难过|疼|痛|孤单|烦)/iu;

const aside =
  /^\W*(?:to be (?:honest|fair)|you know|i (?:think|guess|suppose|mean)|of course|please|though|actually|anyway|really|right|honestly|if you like|by the way|dear|sir|madam|my (?:lord|lady|queen|friend)|your (?:majesty|highness|grace)|captain|general|大圣|猴哥|说实话|老实说)\W*$/iu;

/** Shape of the last sentence; of its last clause if the first states something and the last asks. */
function lastShapeOf(userMessage: string): Shape {
  const sentence = (userMessage.match(/[^.!?;。！？；…]+[.!?;。！？；…]*/gu) ?? [])
    .map((part) => part.replace(tag, '').trim())
    .findLast((part) => /[\p{L}\p{N}]/u.test(part) && !aside.test(part));
  const shape = shapeOf(sentence ?? userMessage);
  const [, ...clauses] = (sentence ?? '').split(/[,，]/u);
  const last = clauses.map((clause) => shapeOf(clause)).findLast((each) => !isStated(each) && each !== 'whether');
  return isStated(shape) || shape === 'whether' || shape === 'urge' ? (last ?? shape) : shape;
}

/** "…, do you?" asks for agreement; the clause before it states. */
const tag =
  /, *(?:do|does|did|is|are|was|were|have|has|had|can|could|will|would)(?:n['’]t)? (?:you|it|he|she|they|we|i)\s*\?\s*$/iu;

/** The last sentence or clause with its mark; a lone name at the end belongs to the clause before it. */
function lastSentenceOf(userMessage: string): string {
  const joined = userMessage.replace(/,(?=\s*[\p{L}'’]+(?:\s+[\p{L}'’]+)?[.!?\s]*$)/u, ' ');
  return (
    (joined.match(/[^.!?;,。！？；，…]+[.!?;,。！？；，…]*/gu) ?? []).findLast(
      (part) => /[\p{L}\p{N}]/u.test(part) && !aside.test(part),
    ) ?? joined
  );
}

/** Stock lines with which the character offers another subject to a user who wants one. */
function offersOf({ acts }: StockLines): readonly string[] {
  return (acts.change ?? []).filter((line) => line.includes('{topic}'));
}

/** Offers a user who wants another subject that of a line that was not said yet. */
export function offerOf({ lines, history, language, stock }: Unanswered): string | undefined {
  const other = otherSubject(lines, history.slice(0, -3), language);
  return other && fill(stock.acts.change ?? [], history, { topic: other.topic });
}

/** Subjects that nobody changes to. */
const ofLooks = /\b(?:hair|eyes|clothes|hat|beard|boots|dress|dresses)\b|头发|眼睛|衣服/iu;

/** Subject of a line that was not said yet, and the line; one that was touched on in the last messages, if there is any. */
function otherSubject(
  lines: readonly DialoguePair[],
  history: readonly Message[],
  language: string,
): { readonly topic: string; readonly reply: string } | undefined {
  const said = history.filter(({ role }) => role === 'assistant').slice(-40);
  const sample = languageOf(language === 'zh' ? '中' : 'a', ['en', 'zh']);
  const others = lines
    .filter(({ reply }) => !said.some(({ text }) => isSameLine(text, reply) || text.endsWith(reply)))
    .flatMap((pair) => {
      const topic = topicOf(pair);
      return topic === undefined || languageOf(topic, ['en', 'zh']) !== sample ? [] : [{ topic, reply: pair.reply }];
    });
  const recent = history.slice(-4).map(({ text }) => new Set(topicTerms(text)));
  // A subject of the last message counts more than all before.
  const nearness = (topic: string): number => {
    const terms = topicTerms(topic).filter((term) => !weakTopics.has(term));
    return recent.reduce((sum, said, index) => sum + (terms.some((term) => said.has(term)) ? 2 ** index : 0), 0);
  };
  const rated = others.map((each) => ({ ...each, nearness: nearness(each.topic) }));
  const nearest = Math.max(0, ...rated.map((each) => each.nearness));
  const chosen = rated.filter((each) => each.nearness === nearest && (nearest > 0 || !ofLooks.test(each.topic)));
  const topic = chooseLine(
    chosen.map((each) => each.topic),
    history,
  );
  return chosen.find((each) => each.topic === topic);
}

/** Subject that the character offered in this reply. */
export function offeredIn(reply: string, stock: StockLines): string | undefined {
  const offers = offersOf(stock);
  return isMove(offers, reply) ? slotOf(offers, reply) : undefined;
}

/** Chooses one of the stock lines whose slots are all known; '' if there is none. */
export function fill(
  lines: readonly string[],
  history: readonly Message[],
  slots: Readonly<Record<string, string | undefined>>,
): string {
  const whole = lines.map((line) => filled(line, slots)).filter((line) => line !== undefined);
  return chooseLine(whole, history);
}

/** True if the reply was made of one of these stock lines. */
export function isMove(lines: readonly string[], reply: string): boolean {
  return lines.some((line) => line.split(/\{\w+\}/u).every((piece) => reply.includes(piece)));
}

/** Fills in the slots of a line; undefined if one is unknown. */
function filled(line: string, slots: Readonly<Record<string, string | undefined>>): string | undefined {
  let isWhole = true;
  const text = line.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = slots[name];
    isWhole &&= value !== undefined;
    return value ?? '';
  });
  return isWhole ? text : undefined;
}

/** Returns the slot of a line that was filled in before, such as the topic of an offer. */
function slotOf(lines: readonly string[], said: string): string | undefined {
  for (const line of lines) {
    const [before = '', after = ''] = line.split(/\{\w+\}/u);
    if (!line.includes('{') || !said.includes(before)) continue;
    const from = said.indexOf(before) + before.length;
    const until = said.indexOf(after, from);
    if (until > from) return said.slice(from, until);
  }
  return undefined;
}

/** True if the last sentence tells something: "Clever. Somebody has been stealing coins from my machines." */
export function hasNews(userMessage: string): boolean {
  const last = sentencesOf(userMessage).at(-1) ?? '';
  return last.length > 34 && shapeOf(last) !== 'you';
}
