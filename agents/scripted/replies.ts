import type { DialoguePair } from '../../characters/card.ts';
import type { Character } from '../../characters/character.ts';
import type { Message } from '../chat.ts';
import { isSameLine } from '../retrieval/choice.ts';
import type { FindLines, LineHit } from '../retrieval/line-index.ts';
import { isFrame, searchTerms, topicTerms } from '../retrieval/words.ts';
import {
  actsOf,
  asksForName,
  isAskedIn,
  isCourtesy,
  lastQuestionOf,
  withoutTitles,
  wordy,
  isCall,
  nameIn,
  sympathy,
  whoAsks,
  type HeardAct,
} from './acts.ts';
import { arithmeticIn } from './arithmetic.ts';
import { isMeant, isModern, pronounIn } from './follow-up.ts';
import {
  hitsOf,
  isKeywordOnly,
  isOfUser,
  leastWeakFit,
  paraphrased,
  ofOthers,
  suitability,
  wordForWord,
} from './line-search.ts';
import { fill, isMove, moveOn, offeredIn, offerOf } from './moves.ts';
import { asksOwnName, ownFacts, workIn, type OwnFacts } from './own-facts.ts';
import { stockLines } from './stock-lines.ts';

/** A user message, and what a reply without an LLM is made from. */
export interface Mind {
  readonly character: Character;
  /** The character's lines in this language, and their index. */
  readonly lines: readonly DialoguePair[];
  readonly find: FindLines;
  readonly history: readonly Message[];
  readonly language: string;
  readonly userMessage: string;
  readonly memories?: readonly string[] | undefined;
}

/** A reply: a line of the pack, or a stock line. */
export type Spoken = Pick<DialoguePair, 'reply' | 'emotion'>;

/** Least fit of a line that answers a question, and of one that answers a statement. Measured; see the README. */
const leastFit = 0.48;
const leastStatementFit = 0.62;
/** Least fit of a line if one that fits better is left out. */
const leastOtherFit = 0.55;
/** Least fit of a line that was said just now, to be said again. */
const leastRepeatedFit = 0.6;
/** Least fit of a line for an act, whose trigger may address the character. */
const leastActFit = 0.8;
/** Least fit of a line for "How fast does it go?", whose subject is unknown. */
const leastPronounFit = 0.75;
/** Factor on the fit of a message read with the one before it. */
const echoShare = 0.75;
/** A reply is not repeated within this many replies. */
const restReplies = 8;

/** A mind, and what every step needs to know of the talk so far. */
interface Situated extends Mind {
  readonly act: HeardAct;
  /** The other acts of the message. */
  readonly others: readonly HeardAct[];
  readonly facts: OwnFacts;
  readonly before: string;
  readonly lastReply: string;
  readonly isFresh: (hit: LineHit) => boolean;
}

/** Answers a user message: what suits its act, else the line that fits it, else an evasion or another way on. */
export function replyTo(mind: Mind): Spoken {
  const userMessage = withoutTitles(mind.userMessage);
  const { history, language } = mind;
  const [, before = ''] = history.flatMap(({ role, text }) => (role === 'user' ? [text] : [])).toReversed();
  const replies = history.flatMap(({ role, text }) => (role === 'assistant' ? [text] : []));
  const justSaid = replies.slice(-restReplies);
  const [first = { act: 'statement', asks: [] } satisfies HeardAct, ...others] = actsOf(userMessage, language);
  const { name } = mind.character;
  const act: HeardAct = asksForName(userMessage, name)
    ? { act: 'who', asks: whoAsks }
    : isCall(userMessage, name)
      ? { act: 'greeting', asks: ['Hello'] }
      : first.act === 'sorry' && isAskedIn(before) && sympathy.test(userMessage)
        ? { act: 'pity', asks: [] }
        : first;
  const now: Situated = {
    ...mind,
    userMessage,
    act,
    others,
    facts: ownFacts(history, mind.memories),
    before,
    lastReply: replies.at(-1) ?? '',
    isFresh: ({ pair }) => !justSaid.some((text) => isSameLine(text, pair.reply)),
  };
  const steps = [
    accepted,
    ownFact,
    introduced,
    changed,
    exactLine,
    answered,
    followed,
    fitting,
    unknownThing,
    otherwise,
  ];
  for (const step of steps) {
    const reply = step(now);
    if (reply !== undefined) return reply;
  }
  return { reply: moveOn(now) };
}

const assent =
  /^\W*(?:(?:yes|yeah|yep|sure|please|ok|okay|do|go (?:on|ahead)|tell me|of course|gladly|why not|i would|i'd like that|all right|alright)(?: please| then| do| about it| more)*\W*){1,4}$|^[\p{P}\s]*(?:好|想|行|可以|讲吧|说吧|嗯|当然)[的呀啊吧\p{P}\s]*(?:讲吧|说吧|讲讲)?[\p{P}\s]*$/iu;

/** The line that the character offered, if the user says yes. */
function accepted({ find, language, lastReply, userMessage, isFresh }: Situated): Spoken | undefined {
  if (userMessage.length > 40 || !assent.test(userMessage)) return undefined;
  const topic = offeredIn(lastReply, language)?.replace(/^my\b/u, 'your');
  if (topic === undefined) return undefined;
  const hit = find(language.startsWith('zh') ? `讲讲${topic}` : `Tell me about ${topic}`).find(isFresh);
  return hit !== undefined && hit.fit >= leastFit ? hit.pair : undefined;
}

/** Answers questions of users about themselves from their own words. */
function ownFact(now: Situated): Spoken | undefined {
  const { act, facts, history, language, userMessage } = now;
  if (act.act !== 'own-fact') return undefined;
  const stock = stockLines(language);
  if (asksOwnName(userMessage) && facts.name !== undefined)
    return { reply: fill(stock.ownName, history, { name: facts.name }) };
  const fact = asksOwnName(userMessage) ? undefined : facts.answer(userMessage);
  if (fact !== undefined) return { reply: fill(stock.ownFact, history, { fact }) };
  const line = exactLine(now);
  const isOfThem = line?.asks.some((ask) => /\b(?:i|my|me)\b|我/iu.test(ask));
  return isOfThem === true ? line : { reply: fill(stock.ownFactUnknown, history, {}) };
}

/** Repeats name and work of users who introduce themselves, before the pack's own line. */
function introduced(now: Situated): Spoken | undefined {
  const { act, history, language, userMessage } = now;
  if (act.act !== 'introduction') return undefined;
  const stock = stockLines(language);
  const slots = { name: nameIn(userMessage), work: workIn(userMessage) };
  const lead = fill([slots.work === undefined ? stock.introduced : stock.introducedAs], history, slots);
  const line = lineFor(now, act.asks) ?? { reply: fill(stock.acts.introduction ?? [], history, {}) };
  return { ...line, reply: language.startsWith('zh') ? `${lead}${line.reply}` : `${lead} ${line.reply}` };
}

/** Another subject, if the user wants one; and acts whose few words are in the triggers of other acts, too. */
function changed(now: Situated): Spoken | undefined {
  const { act, others, history, language } = now;
  if (wordy.has(act.act) && others.length === 0) return answered(now);
  if (act.act !== 'change') return undefined;
  const offer = offerOf(now.lines, history, language);
  return offer === undefined ? answered(now) : { reply: offer };
}

/** The line whose trigger is the message nearly word for word. */
function exactLine(now: Situated): DialoguePair | undefined {
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

/** The pack's line for the act of the message, else a stock line. */
function answered(now: Situated): Spoken | undefined {
  const { act, history, language, facts, userMessage, before, lastReply } = now;
  const stock = stockLines(language);
  const line = lineFor(now, act.asks);
  if (line !== undefined) return line;
  const asksBack = /[?？]\s*$/u.test(lastReply);
  if (act.act === 'interest' && !asksBack && /\b(?:you|your)\b|你/iu.test(before) && isAskedIn(before))
    return { reply: fill(stock.returnsQuestion, history, { question: lastQuestionOf(before) }) };
  const slots = { name: facts.name, sum: arithmeticIn(userMessage) };
  const reply = fill(stock.acts[act.act] ?? [], history, slots);
  return reply === '' ? undefined : { reply };
}

/** A line of the pack with one of these triggers, the first first. */
function lineFor({ find, isFresh }: Situated, asks: readonly string[]): DialoguePair | undefined {
  for (const ask of asks) {
    const hit = find(ask).find(isFresh);
    const share =
      hit !== undefined && /^(?:what|where|when|who|how)\b/iu.test(ask) ? suitability({ ...hit, part: ask }) : 1;
    if (hit !== undefined && hit.fit * share >= leastActFit) return hit.pair;
  }
  return undefined;
}

/** A question about "it" or "their": read with what was said before; if that has no line, the character asks what is meant. */
function followed(now: Situated): Spoken | undefined {
  const { find, before, userMessage, history, language, isFresh, character } = now;
  const isOfThem = possessive.test(userMessage) && topicTerms(userMessage).length < 2;
  const pronoun = pronounIn(userMessage);
  if ((pronoun === undefined && !isOfThem) || !isAskedIn(userMessage)) return undefined;
  const stock = stockLines(language);
  if (isModern(before, character) && !isModern(userMessage, character))
    return { reply: fill(stock.yoursToTell, history, {}) };
  const related = relatedLine(now);
  if (related !== undefined) return related;
  if (pronoun === undefined || isOfThem) return { reply: moveOn(now) };
  const direct = find(userMessage).find((hit) => isFresh(hit) && isMeant(hit.pair, now));
  if (direct !== undefined && direct.fit * suitability({ ...direct, part: userMessage }) >= leastPronounFit)
    return direct.pair;
  // With a subject before it, "it" is plain; the answer is what is unknown.
  return topicTerms(before).length > 0 ? undefined : { reply: fill(stock.clarifies, history, { pronoun }) };
}

const possessive = /^(?:and |so )?what (?:is|are|was|were) (?:their|his|her|its)\b|^(?:他|她|它)们?(?:的|叫)/iu;

/** The line that has the words of this message and the subject of the one before it, or of the last reply. */
function relatedLine({ find, before, lastReply, lines, userMessage, isFresh }: Situated): DialoguePair | undefined {
  const own = topicTerms(userMessage);
  const lastLine = lines.find(({ reply }) => isSameLine(lastReply, reply));
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

/** The line that fits the message, or a message without a topic together with the one before. */
function fitting(now: Situated): Spoken | undefined {
  const { find, before, userMessage, history, language, isFresh } = now;
  const isAsked = isAskedIn(userMessage);
  const least = isAsked ? leastFit : leastStatementFit;
  const hits = hitsOf(find, userMessage)
    .map((hit) => ({
      ...hit,
      fit:
        isAsked && isOfUser(hit.pair.asks)
          ? 0
          : hit.fit * Math.max(suitability(hit), hit.fit >= paraphrased ? leastActFit : 0),
    }))
    .toSorted((left, right) => right.fit - left.fit);
  const direct = hits
    .filter((hit) => isFresh(hit) && (!isAsked || isMeant(hit.pair, now)))
    .find((hit, place) => hit.fit >= (place === 0 ? least : leastOtherFit) && !isKeywordOnly(hit, isAsked));
  if (direct !== undefined) return direct.pair;
  const said = hits.find((hit) => !isFresh(hit));
  if (isAsked && said !== undefined && said.fit >= leastRepeatedFit && !isKeywordOnly(said, isAsked)) {
    const lead = fill(stockLines(language).repeats, history, {});
    return { ...said.pair, reply: `${lead}${language.startsWith('zh') ? '' : ' '}${said.pair.reply}` };
  }
  if (!isAsked || ofOthers.test(userMessage) || searchTerms(userMessage).some((term) => !isFrame(term)))
    return undefined;
  const echoed = find(`${before} ${userMessage}`).find(isFresh);
  return echoed !== undefined && echoed.fit * echoShare >= leastFit ? echoed.pair : undefined;
}

/** Answers another act of the message: "I'm bored, let's play something!" */
function otherwise(now: Situated): Spoken | undefined {
  for (const act of now.others) {
    if (now.act.act === 'question' && isCourtesy(act.act, now.userMessage)) continue;
    const reply = answered({ ...now, act });
    if (reply !== undefined) return reply;
  }
  return undefined;
}

/** A thing of a later time than the character's. */
function unknownThing({ character, userMessage, history, language, lastReply }: Situated): Spoken | undefined {
  const { unknownThings } = stockLines(language);
  if (!isModern(userMessage, character) || !isAskedIn(userMessage) || isMove(unknownThings, lastReply))
    return undefined;
  return { reply: fill(unknownThings, history, {}) };
}
