import type { DialoguePair } from '../../characters/card.ts';
import type { Character } from '../../characters/character.ts';
import type { Message } from '../chat.ts';
import type { FindLines, LineHit } from '../retrieval/line-index.ts';
import { isFrame, searchTerms, topicTerms, weakTopics, isAskedIn } from '../retrieval/words.ts';
import { actsOf, lastQuestionOf, type HeardAct } from './acts/acts.ts';
import { askedAlone, isMeant, isModern, lineSaid } from './follow-up.ts';
import {
  isKeywordOnly,
  lacksSubject,
  isOfUser,
  leastWeakFit,
  isOfOthers,
  ofOthers,
  paraphrased,
  singlesOut,
  suitability,
  tellsOfExcepted,
  type PartHit,
  wordForWord,
} from './line-search.ts';
import { fill } from './moves.ts';
import { hitsOf } from './part-hits.ts';
import type { OwnFacts } from './own-facts.ts';
import { kinship } from './shapes.ts';
import type { StockLines } from './stock-lines.ts';

/** A user message, and the data from which a reply without an LLM is made. */
export interface Mind {
  readonly character: Character;
  /** The character's lines in this language, and their index. */
  readonly lines: readonly DialoguePair[];
  /** Finds lines; among those of the persons spoken of if a question names nobody. */
  readonly find: FindLines;
  readonly history: readonly Message[];
  readonly language: string;
  /** Stock lines in this language. */
  readonly stock: StockLines;
  readonly userMessage: string;
  readonly memories?: readonly string[] | undefined;
}

/** A reply: a line of the pack, or a stock line. */
export type Spoken = Pick<DialoguePair, 'reply' | 'emotion'>;

/** A mind, and what every step needs to know of the talk so far. */
export interface Situated extends Mind {
  /** Finds lines about anybody. */
  readonly findAny: FindLines;
  readonly act: HeardAct;
  /** The other acts of the message. */
  readonly others: readonly HeardAct[];
  readonly facts: () => OwnFacts;
  readonly before: string;
  readonly lastReply: string;
  readonly isFresh: (hit: LineHit) => boolean;
}

/** Least fit of a line that answers a question. */
export const leastFit = 0.48;
/**
 * Least fits of a line that answers a question, or a statement; if one that fits better is left out, or was just said; to
 * be said again.
 */
const leastFits = { question: leastFit, statement: 0.62, other: 0.55, again: 0.55, repeated: 0.7 };
/** The same for the probability that it answers. */
const leastSure = { question: 0.3, statement: 0.42, other: 0.36, again: 0.5, repeated: 0.5 };
/** Least fit of a line for an act, whose trigger may address the character. */
const leastActFit = 0.8;
/** Least fit of a line for "How fast does it go?", whose subject is unknown. */
export const leastPronounFit = 0.75;
/** Factor on the fit of a message read with the one before it. */
const echoShare = 0.75;
/** The line that has this message as a trigger, or its question, or another sentence of it. */
export function literal({ find, findAny, userMessage, isFresh }: Situated): Spoken | undefined {
  const sentences = userMessage.match(/[^.!?。！？]+[.!?。！？]*/gu) ?? [];
  const isLong = (sentence: string): boolean => bareWords(sentence).length >= shortestSentence;
  const others = sentences.length > 1 ? [lastQuestionOf(userMessage), ...sentences.filter(isLong)] : [];
  return [userMessage, ...others.slice(0, mostSentences)]
    .values()
    .map((text) => literalLine(text, bareWords(text).length < shortestSentence ? find : findAny, isFresh))
    .find((line) => line !== undefined);
}

function literalLine(text: string, find: FindLines, isFresh: Situated['isFresh']): Spoken | undefined {
  const said = bareWords(text);
  if (said.length < (/\p{Script=Han}/u.test(said) ? 3 : shortestLiteral)) return undefined;
  return find(text).find((hit) => isFresh(hit) && hit.pair.asks.some((ask) => bareWords(ask) === said))?.pair;
}

/** Shorter messages, such as "what", say little without what was said before; a statement among others is longer. */
const shortestLiteral = 10;
const shortestSentence = 24;
const mostSentences = 4;

function bareWords(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[’‘`]/gu, "'")
    .replaceAll(/[^\p{L}\p{N}' ]+/gu, '')
    .replace(/(?<=\p{Script=Han})[啊呀呢吧啦嘛哦]+$/u, '')
    .trim();
}

/** The line whose trigger is the message nearly word for word. */
export function exactLine(now: Situated): DialoguePair | undefined {
  const { find, userMessage, isFresh } = now;
  const isAsked = isAskedIn(userMessage);
  const hit = possessive.test(userMessage)
    ? undefined
    : find(userMessage).find(
        (each) => isFresh(each) && isMeant(each.pair, now) && !(isAsked && isOfUser(each.pair.asks)),
      );
  return hit !== undefined && hit.fit * suitability({ ...hit, part: userMessage }) >= wordForWord
    ? hit.pair
    : undefined;
}

/** A line of the pack with one of these triggers, the first first. */
export function lineFor({ find, isFresh, language }: Situated, asks: readonly string[]): DialoguePair | undefined {
  for (const ask of asks) {
    const act = actsOf(ask, language)[0]?.act;
    const hit = find(ask).find(
      (each) =>
        isFresh(each) && (act !== 'doing' || each.pair.asks.some((own) => actsOf(own, language)[0]?.act === act)),
    );
    const share =
      hit !== undefined && /^(?:what|where|when|who|how)\b/iu.test(ask) ? suitability({ ...hit, part: ask }) : 1;
    if (hit !== undefined && hit.fit * share >= leastActFit) return hit.pair;
  }
  return undefined;
}

export const possessive = /^(?:and |so )?what (?:is|are|was|were) (?:their|his|her|its)\b|^(?:他|她|它)们?(?:的|叫)/iu;

/** The line that has the words of this message and the subject of the one before it, or of the last reply. */
export function relatedLine({
  find,
  before,
  lastReply,
  lines,
  userMessage,
  isFresh,
}: Situated): DialoguePair | undefined {
  const own = topicTerms(userMessage);
  const lastLine = lineSaid(lines, lastReply);
  const topicsBefore = topicTerms(before);
  const topics = new Set(topicsBefore.length > 0 ? topicsBefore : topicTerms(lastLine?.asks.join(' ') ?? ''));
  const [related] = [...find(`${before} ${userMessage}`), ...find(`${lastLine?.asks[0] ?? ''} ${userMessage}`)]
    .filter((hit) => hit.pair !== lastLine && isFresh(hit))
    .map((hit) => ({ ...hit, fit: hit.fit * suitability({ ...hit, part: userMessage }) }))
    .filter(({ pair }) => {
      const theirs = new Set(searchTerms(pair.asks.join(' ')));
      return own.every((term) => theirs.has(term)) && [...topics].some((term) => theirs.has(term));
    })
    .toSorted((left, right) => right.fit - left.fit);
  const least = own.length === 0 ? leastWeakFit : leastFit;
  return related !== undefined && related.fit >= least ? related.pair : undefined;
}

/** Least share of the topics of a follow-up that its line has, and least fit of its shape. */
const leastShape = 0.9;
const leastSuitability = 0.6;

/**
 * The line that continues the subject: it has every topic of the message itself, and one of what was said just before, and
 * a trigger of the same shape. "Where did you go?" after a tale of being banished.
 */
export function continuedLine(now: Situated): DialoguePair | undefined {
  const { find, before, lastReply, lines, userMessage, isFresh } = now;
  const strong = (text: string): string[] => topicTerms(text).filter((term) => !weakTopics.has(term));
  const own = strong(userMessage);
  const lastLine = lineSaid(lines, lastReply);
  const context = new Set(strong(`${before} ${lastLine?.asks.join(' ') ?? ''} ${lastReply}`));
  const queries = [userMessage, `${before} ${userMessage}`, `${lastLine?.asks[0] ?? ''} ${userMessage}`];
  const hits = queries
    .flatMap((query) => find(query))
    .filter((hit) => hit.pair !== lastLine && isFresh(hit))
    .map(({ pair }) => {
      const asked = new Set(searchTerms(pair.asks.join(' ')));
      const said = new Set(searchTerms(pair.reply));
      const isAsked = own.length === 0 || own.some((term) => asked.has(term));
      const isWhole = isAsked && own.every((term) => asked.has(term) || said.has(term));
      const shared =
        [...context].filter((term) => asked.has(term)).length + own.filter((term) => asked.has(term)).length;
      const shape = Math.max(...pair.asks.map((ask) => kinship(userMessage, ask)));
      const isAnswer = suitability({ pair, fit: 1, part: userMessage }) >= leastSuitability;
      return { pair, score: isWhole && isAnswer && shape >= leastShape ? shared * shape : 0 };
    })
    .toSorted((left, right) => right.score - left.score);
  const [best] = hits;
  return best !== undefined && best.score >= (own.length > 0 ? 1.8 : 2) ? best.pair : undefined;
}

/** "What do you think of Moran?" and "And Moran?" are also answered by a line about the subject. */
const ofSubjectOnly =
  /^(?:what do you (?:think|make) (?:of|about)|and(?: what about)?|(?:what|how) about) ((?!(?:me|it|that|this|you|now|then)\b)[\p{L}'’ ]{2,40})\?*$/iu;

/** Least probability that one of the first three lines answers, of the first of them, and with how much of them. */
const together = { count: 3, sum: 0.55, first: 0.2 };

/** If several lines on one subject answer about as surely, puts the one with most of the words first. */
function withTogether(hits: readonly PartHit[]): readonly PartHit[] {
  const few = [...new Map(hits.slice(0, 8).map((hit) => [hit.pair, hit])).values()].slice(0, together.count);
  const [first] = few;
  const sum = few.reduce((total, { fit }) => total + fit, 0);
  if (first === undefined || first.fit >= leastSure.question || first.fit < together.first || sum < together.sum)
    return hits;
  const wordsOf = ({ pair, part, words = 0 }: PartHit): number => words * suitability({ pair, part, fit: words });
  const best = few.reduce((one, other) => (wordsOf(other) > wordsOf(one) ? other : one));
  return [{ ...best, fit: sum }, ...hits.filter((hit) => hit !== best)];
}

/** True for a line that answers no question, or not this one. */
function isLeftOut({ pair }: PartHit, userMessage: string): boolean {
  return isOfUser(pair.asks) || tellsOfExcepted(userMessage, pair.reply);
}

/** Probability that a hit answers, or its suitable fit where there are no word vectors. */
function ratingOf(hit: PartHit, userMessage: string): number {
  if (hit.sure !== undefined) return hit.sure;
  const isSame = hit.fit >= paraphrased && !isOfOthers(hit.pair, userMessage);
  return hit.fit * Math.max(suitability(hit), isSame ? leastActFit : 0);
}

/** The line that fits the message, or a message without a topic together with the one before. */
export function fitting(now: Situated): Spoken | undefined {
  const { find, before, userMessage, history, language, stock, isFresh, character } = now;
  const isAsked = isAskedIn(userMessage);
  const isNew = isAsked && isModern(askedAlone(userMessage), character);
  const [, subject] = ofSubjectOnly.exec(userMessage) ?? [];
  const rated = (search: FindLines): readonly PartHit[] =>
    [userMessage, ...(subject === undefined ? [] : [`Who is ${subject}?`])]
      .flatMap((text) => hitsOf(search, text))
      .map((hit) => ({
        ...hit,
        words: hit.fit,
        fit: isAsked && isLeftOut(hit, userMessage) ? 0 : ratingOf(hit, userMessage),
      }))
      .toSorted((left, right) => right.fit - left.fit);
  const hits = rated(find);
  const isSure = hits.some(({ sure }) => sure !== undefined);
  const least = isSure ? leastSure : leastFits;
  const isFar = (hit: PartHit): boolean => (isSure ? lacksSubject(hit) : isKeywordOnly(hit, isAsked));
  const said = hits.find((hit) => !isFresh(hit));
  const isSaid = isAsked && said !== undefined && said.fit >= least.repeated && !isFar(said);
  // The lines said are no rivals of the others; with one that answers, another must be surer.
  const fresh = said === undefined ? hits : rated((text) => find(text).filter(isFresh));
  const direct = (isAsked && isSure && !isSaid ? withTogether(fresh) : fresh)
    .filter((hit) => isFresh(hit) && (!isAsked || isMeant(hit.pair, now)))
    .find(
      (hit, place) =>
        hit.fit >= (isSaid ? least.again : place > 0 ? least.other : isAsked ? least.question : least.statement) &&
        !isFar(hit) &&
        (!isAsked || singlesOut(hit.pair, userMessage)) &&
        (!isNew || isModern(hit.pair.asks.join(' '), character)),
    );
  if (direct !== undefined) return direct.pair;
  if (isSaid) {
    const lead = fill(stock.repeats, history, {});
    return { ...said.pair, reply: `${lead}${language.startsWith('zh') ? '' : ' '}${said.pair.reply}` };
  }
  if (!isAsked || ofOthers.test(userMessage) || searchTerms(userMessage).some((term) => !isFrame(term)))
    return undefined;
  const echoed = find(`${before} ${userMessage}`).find(isFresh);
  return echoed !== undefined && echoed.fit * echoShare >= leastFit ? echoed.pair : undefined;
}

/** "I read that you used to be a lawyer": answered as a question for it; if no line fits, the character neither owns nor denies it. */
export function heardOf(now: Situated): Spoken | undefined {
  const { userMessage, history, language, stock } = now;
  const told = userMessage.replace(hearsay, '');
  if (isAskedIn(userMessage) || !(told.length < userMessage.length || ofPast.test(told))) return undefined;
  const mark = language.startsWith('zh') ? '吗？' : '?';
  const line = fitting({ ...now, userMessage: told.replace(/[.!。！，,\s]*$/u, mark) });
  return line ?? { reply: fill(stock.hearsay, history, {}) };
}

const hearsay =
  /^(?:\W*(?:oh|well|but|and|so|wow|hey)\W+)*(?:(?:i|we)(?:['’]ve| have)? (?:just |once |also )?(?:heard|hear|read|know|was told|learned|learnt|saw)|they say|people say|(?:somebody|someone|everybody|everyone|my \p{L}+) (?:said|says|told me)|i(?:['’]m| am) told)(?: (?:somewhere|once|in \p{L}+(?: \p{L}+)?))?(?: that)? (?=your?\b)|^(?:我|大家|人家|他们)?(?:听说|听人说|都说|在书上看到|知道)(?=你)/iu;
const ofPast =
  /^you (?:used to|were (?:once|born|a|an|the|in)|had an?|once|lost|wrote|built|fought|killed|stole)\b|^你(?:以前|从前|当过|曾经)/iu;
