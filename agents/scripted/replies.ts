import { isSameLine } from '../retrieval/choice.ts';
import { searchingOnce } from '../retrieval/line-index.ts';
import { topicTerms, weakTopics, isAskedIn } from '../retrieval/words.ts';
import {
  actsOf,
  asksForName,
  isCourtesy,
  lastQuestionOf,
  wordy,
  isCall,
  nameIn,
  isSympathy,
  whoAsks,
  type HeardAct,
} from './acts/acts.ts';
import type { Act } from './acts/act-network.ts';
import { arithmeticIn } from './acts/arithmetic.ts';
import {
  askedAlone,
  followUpLine,
  lineSaid,
  isMeant,
  isModern,
  longestFollowUp,
  pronounIn,
  refers,
} from './follow-up.ts';
import {
  continuedLine,
  exactLine,
  fitting,
  heardOf,
  leastFit,
  leastPronounFit,
  lineFor,
  literal,
  possessive,
  relatedLine,
  type Mind,
  type Situated,
  type Spoken,
} from './fitting-lines.ts';
import { suitability } from './line-search.ts';
import { fill, hasNews, isMove, isOwnLine, moveOn, offeredIn, offerOf } from './moves.ts';
import { amongSamePersons, inContext, withName, withNameInChinese } from './subjects.ts';
import { asksOwnName, ownFacts, withoutAsking, workIn } from './own-facts.ts';

/** A reply is not repeated within this many replies. */
const restReplies = 8;

/** Answers a user message: what suits its act, else the line that fits it, else an evasion or another way on. */
export function replyTo(given: Mind): Spoken {
  const mind = { ...given, find: searchingOnce(given.find) };
  const { userMessage, history, language } = mind;
  const [, before = ''] = history.flatMap(({ role, text }) => (role === 'user' ? [text] : [])).toReversed();
  const replies = history.flatMap(({ role, text }) => (role === 'assistant' ? [text] : []));
  const justSaid = replies.slice(-restReplies);
  const [first = { act: 'statement', asks: [] } satisfies HeardAct, ...others] = actsOf(userMessage, language);
  const { name } = mind.character;
  const isSorry = first.act === 'sorry' || (first.act === 'statement' && others.some(({ act }) => act === 'sorry'));
  const act: HeardAct = asksForName(userMessage, name)
    ? { act: 'who', asks: whoAsks }
    : isCall(userMessage, name)
      ? { act: 'greeting', asks: ['Hello'] }
      : isSorry && isSympathy(userMessage, before)
        ? { act: 'pity', asks: [] }
        : first;
  const lastReply = replies.at(-1) ?? '';
  const now: Situated = {
    ...mind,
    findAny: mind.find,
    find: amongSamePersons(mind, { userMessage, before, lastReply }),
    userMessage,
    act,
    others,
    facts: () => ownFacts(history, mind.memories),
    before,
    lastReply,
    isFresh: ({ pair }) => !justSaid.some((text) => isSameLine(text, pair.reply) || text.endsWith(pair.reply)),
  };
  // The words of sympathy and of an apology are the same.
  const steps = [
    ...(act !== first && act.act === 'pity' ? [answered] : []),
    accepted,
    ownFact,
    introduced,
    wellAnswered,
    literal,
    pursued,
    (talk: Situated) => (isModern(before, mind.character) ? undefined : inContext(talk)),
    ofNamedInChinese,
    changed,
    exactLine,
    answered,
    heardOf,
    followed,
    fitting,
    continued,
    (talk: Situated) => pursued(talk, true),
    unknownThing,
    otherwise,
  ];
  const spoken = steps
    .values()
    .map((step) => step(now))
    .find((reply) => reply !== undefined);
  if (spoken === undefined) return { reply: moveOn(now) };
  const isOfPack = mind.lines.some(({ reply }) => spoken.reply.endsWith(reply));
  const isAsking = isOfPack && /[?？]\s*$/u.test(spoken.reply);
  return isAsking ? { ...spoken, reply: withoutAsking(spoken.reply, history) } : spoken;
}

const assent =
  /^\W*(?:(?:yes|yeah|yep|sure|please|ok|okay|do|go (?:on|ahead)|tell me|of course|gladly|why not|i would|i'd like that|all right|alright)(?: please| then| do| about it| more)*\W*){1,4}$|^[\p{P}\s]*(?:好|想|行|可以|讲吧|说吧|嗯|当然)[的呀啊吧\p{P}\s]*(?:讲吧|说吧|讲讲)?[\p{P}\s]*$/iu;

/** The line that the character offered, if the user says yes. */
function accepted({ find, language, stock, lastReply, userMessage, isFresh }: Situated): Spoken | undefined {
  if (userMessage.length > 40 || !assent.test(userMessage)) return undefined;
  const topic = offeredIn(lastReply, stock)?.replaceAll(/\bmy\b/gu, 'your');
  if (topic === undefined) return undefined;
  const hit = find(language.startsWith('zh') ? `讲讲${topic}` : `Tell me about ${topic}`).find(isFresh);
  return hit !== undefined && hit.fit >= leastFit ? hit.pair : undefined;
}

/** Answers questions of users about themselves from their own words. */
function ownFact(now: Situated): Spoken | undefined {
  const { act, facts, history, stock, userMessage } = now;
  const isKnown = ofSelfOrNot.test(userMessage) && facts().answer(userMessage) !== undefined;
  if (act.act !== 'own-fact' && !isKnown) return undefined;
  if (asksOwnName(userMessage) && facts().name !== undefined)
    return { reply: fill(stock.ownName, history, { name: facts().name }) };
  const fact = asksOwnName(userMessage) ? undefined : facts().answer(userMessage);
  if (fact !== undefined) return { reply: fill(stock.ownFact, history, { fact }) };
  const line = exactLine(now);
  const isOfThem = line?.asks.some((ask) => /\b(?:i|my|me)\b|我/iu.test(ask));
  if (isOfThem === true) return line;
  const told = asksOwnName(userMessage) ? undefined : facts().answer('What do you know about me?');
  const lines = told === undefined ? stock.ownFactUnknown : stock.ownFactPartly;
  return { reply: fill(lines, history, { fact: told }) };
}

/** "Do I have a dog?", and what may as well ask for advice: a fact if there is one. */
const ofSelfOrNot =
  /^(?:do|did|have|am) i\b|^(?:and )?(?:what|which|who|where|when)\b(?!.*\b(?:can|could|should|shall|would|will|you)\b).*\b(?:i|me)\b|^(?:and )?what do i do\W*$/iu;

/** Repeats name and work of users who introduce themselves, before the pack's own line. */
function introduced(now: Situated): Spoken | undefined {
  const { act, history, language, stock, userMessage } = now;
  const name = nameIn(userMessage);
  // "Who am I talking to? I'm Anna."
  if (act.act !== 'introduction' && !(act.act === 'who' && name !== undefined)) return undefined;
  const slots = { name, work: workIn(userMessage) };
  const named = fill([slots.work === undefined ? stock.introduced : stock.introducedAs], history, slots);
  // Chinese users who give their surname only.
  const lead = /^(?!.*叫).*我姓/su.test(userMessage) ? named.replace('叫', '姓') : named;
  const line = lineFor(now, act.asks) ?? { reply: fill(stock.acts.introduction ?? [], history, {}) };
  return { ...line, reply: language.startsWith('zh') ? `${lead}${line.reply}` : `${lead} ${line.reply}` };
}

/** "I'm fine, thanks": the user answers how they are. */
function wellAnswered({ userMessage, lastReply, history, stock }: Situated): Spoken | undefined {
  return /[?？]/u.test(lastReply) && wellAnswer.test(userMessage)
    ? { reply: fill(stock.well, history, {}) }
    : undefined;
}

const wellAnswer =
  /^\W*(?:(?:oh|well|yes|i['’]?m|i am|doing|feeling|pretty|very|quite|all|just)\W+)*(?:fine|good|well|okay|ok|alright|right|great|not (?:too |so )?bad|can['’]t complain)\W+(?:thanks|thank you)(?: (?:for asking|very much))?\W*$|^\W*我?(?:很好|挺好|还好|不错)[，, ]*谢谢(?:你|大圣)?\W*$/iu;

/** Acts that a short question about the line said last may seem to perform. */
const pursuing: ReadonlySet<Act> = new Set([
  'question',
  'why',
  'more',
  'confused',
  'interest',
  'manner',
  'when',
  'where',
]);

/** "And how did it feel?": the answer that the line said last has for it; loosely also to "Where did you meet him?" */
function pursued(now: Situated, isLoose = false): Spoken | undefined {
  const isNew = isLoose && isModern(now.userMessage, now.character);
  return pursuing.has(now.act.act) && !isNew ? followUpLine(now.lines, now, isLoose) : undefined;
}

/** Another subject, if the user wants one; and acts whose few words are in the triggers of other acts, too. */
function changed(now: Situated): Spoken | undefined {
  const { act, others } = now;
  if (wordy.has(act.act) && others.length === 0) return answered(now);
  if (act.act !== 'change') return undefined;
  const offer = offerOf(now);
  return offer === undefined ? answered(now) : { reply: offer };
}

/** The pack's line for the act of the message, else a stock line. */
function answered(now: Situated): Spoken | undefined {
  const { act, history, stock, facts, userMessage, before, lastReply } = now;
  // Words of sympathy and of farewells fit lines for other acts.
  const isByWords = act.isLearned === true && !/^(?:pity|goodbye|good-night)$/u.test(act.act);
  const line = (isByWords ? fitting(now) : undefined) ?? lineFor(now, act.asks);
  if (line !== undefined) return line;
  const question = lastQuestionOf(before);
  const returned = question.replace(/\byou\b/giu, 'I').replace(/\byour\b/giu, 'my');
  const isReturnable = returnable.test(question) && /\b(?:you|your)\b|你/iu.test(before) && isAskedIn(before);
  const isTold = act.act === 'interest' && !/[?？]\s*$/u.test(lastReply) && isReturnable;
  if (isTold && facts().answer(returned) === undefined)
    return { reply: fill(stock.returnsQuestion, history, { question }) };
  const lines = stock.acts[act.act] ?? [];
  const name = lines.some((each) => each.includes('{name}')) ? facts().name : undefined;
  const sum = act.act === 'arithmetic' ? arithmeticIn(userMessage) : undefined;
  const reply = fill(lines, history, { name, sum });
  return reply === '' ? undefined : { reply };
}

/** A question that the user may answer, too: "Are you married?", "What is your favourite colour?" */
const returnable =
  /^(?:\W*(?:and|so|but|oh|well)\W+)*(?:do you (?:like|love|enjoy|prefer|hate|believe|dream|miss|play|have|live|speak)|have you ever|are you (?!an? |the |really |sure )\p{L}+)\b|\bfavou?rite\b|喜欢|爱吃|最爱|怕什么|信不信/iu;

/** A question about "it" or "their": read with what was said before; if that has no line, the character asks what is meant. */
function followed(now: Situated): Spoken | undefined {
  const { find, before, userMessage, history, stock, isFresh, character } = now;
  const isOfThem = possessive.test(userMessage) && topicTerms(userMessage).length < 2;
  const pronoun = pronounIn(userMessage);
  if (!isAskedIn(userMessage)) return undefined;
  const ofNamed = ofNamedLine(now);
  if (ofNamed !== undefined) return ofNamed;
  if (pronoun === undefined && !isOfThem)
    return refers.test(userMessage) ? (relatedLine(now) ?? continuedLine(now)) : undefined;
  if (isModern(before, character) && !isModern(userMessage, character))
    return { reply: fill(stock.yoursToTell, history, {}) };
  const related = relatedLine(now) ?? continuedLine(now);
  if (related !== undefined) return related;
  if (pronoun === undefined || isOfThem) return { reply: moveOn(now) };
  const direct = find(userMessage).find((hit) => isFresh(hit) && isMeant(hit.pair, now));
  if (direct !== undefined && direct.fit * suitability({ ...direct, part: userMessage }) >= leastPronounFit)
    return direct.pair;
  // "Whose diamonds were they?" names its subject.
  const named = topicTerms(userMessage).some((term) => !weakTopics.has(term));
  const fits = named ? fitting(now) : undefined;
  if (fits !== undefined) return fits;
  // With a subject before it, "it" is plain; the answer is what is unknown.
  return topicTerms(before).length > 0 || isOwnLine(now)
    ? undefined
    : { reply: fill(stock.clarifies, history, { pronoun }) };
}

/** "What's he like?" after "Who is your rival?": asks for the one who was named. */
function ofNamedLine(now: Situated): Spoken | undefined {
  const { before, character, lastReply, lines, userMessage } = now;
  const named = withName(userMessage, before, lineSaid(lines, lastReply)?.asks ?? [], character.name);
  return named === undefined ? undefined : fitting({ ...now, userMessage: named });
}

/** The same in Chinese, where "他" is searched for with the name that was spoken of. */
function ofNamedInChinese(now: Situated): Spoken | undefined {
  const { userMessage, before, lastReply, lines } = now;
  if (userMessage.length > longestFollowUp / 2) return undefined;
  const named = withNameInChinese(userMessage, [before, ...(lineSaid(lines, lastReply)?.asks ?? [])], lines);
  return named === undefined ? undefined : exactLine({ ...now, userMessage: named });
}

/** A short question without a line of its own, read with the subject before it: "When did you two meet?" */
function continued(now: Situated): Spoken | undefined {
  const isShort = now.userMessage.length <= longestFollowUp && topicTerms(now.userMessage).length === 1;
  return isShort && isAskedIn(now.userMessage) && !isModern(now.userMessage, now.character)
    ? relatedLine(now)
    : undefined;
}

/** Acts that lead up to a question, which counts: "That's sad. Do you think about them?" */
const reacting: ReadonlySet<Act> = new Set(['pity', 'praise', 'interest', 'laugh']);

/** Answers another act of the message: "I'm bored, let's play something!" */
function otherwise(now: Situated): Spoken | undefined {
  for (const act of now.others) {
    const isReaction = reacting.has(act.act);
    if (now.act.act === 'question' && (isCourtesy(act.act, now.userMessage) || isReaction)) continue;
    // "Nah, you're just joking."
    if (now.act.act === 'statement' && (act.act === 'yes' || act.act === 'no')) continue;
    if (now.act.act === 'statement' && act.act !== 'pity' && isReaction && hasNews(now.userMessage)) continue;
    const reply = introduced({ ...now, act }) ?? answered({ ...now, act });
    if (reply !== undefined) return reply;
  }
  return undefined;
}

/** A thing of a later time than the character's. */
function unknownThing({
  character,
  userMessage,
  history,
  stock: { unknownThings },
  lastReply,
}: Situated): Spoken | undefined {
  if (!isModern(askedAlone(userMessage), character) || !isAskedIn(userMessage) || isMove(unknownThings, lastReply))
    return undefined;
  return { reply: fill(unknownThings, history, {}) };
}
