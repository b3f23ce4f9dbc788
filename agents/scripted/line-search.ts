import type { DialoguePair } from '../../characters/card.ts';
import type { LineHit } from '../retrieval/line-index.ts';
import { unknownWordsIn } from '../retrieval/word-vectors.ts';
import { searchTerms, topicTerms, weakTopics, isAskedIn } from '../retrieval/words.ts';
import { alternativesIn, isStated, kinship, measureIn, shapeOf } from './shapes.ts';
import { isOfOtherSubject } from './subjects.ts';

/** A line that may answer a message, and the part of the message that it answers. */
export interface PartHit extends LineHit {
  readonly part: string;
  /** Probability that the line answers the part, times the share of the part; undefined without word vectors. */
  readonly sure?: number;
  /** Fit by the words alone, where `fit` is the probability. */
  readonly words?: number;
}

const tellMe =
  /^(?:please )?tell me about (?!you\b|yourself\b|me\b|it\b|that\b|this\b|one of\b|an? )([^,?]{3,40}?)[.?!]*$/iu;
const tellMeChinese = /^(?:请|给我|你)*(?:讲讲|说说|讲一讲|说一说)(?!你)(.{2,12}?)(?:吧|的事)?[。？！]*$/u;

/** Subject of a line that a character can offer to speak of, such as "my violin"; undefined if it has none. */
export function topicOf({ asks }: DialoguePair): string | undefined {
  for (const ask of asks) {
    const topic = tellMe.exec(ask)?.[1] ?? tellMeChinese.exec(ask)?.[1];
    if (topic !== undefined && !/\byou\b|你/iu.test(topic)) return topic.replaceAll(/\byour\b/giu, 'my');
  }
  return undefined;
}

/** Fit of a line whose trigger is the message nearly word for word: it goes before everything else. */
export const wordForWord = 0.85;
/** Factor on the fit of a line whose triggers speak of "you", and the message does not; or the other way round. */
const otherPersonShare = 0.9;
/** The same if the message speaks of others ("What are their names?"), or states something. */
const otherThingShare = 0.6;
/** Factor on the fit of a line whose trigger is a bare subject: "the professor". */
const bareShare = 0.9;
/** Least fit of a line for a message with weak topics only. */
export const leastWeakFit = 0.6;
/** Least fit of a line for a statement with one strong topic. */
const leastSingleFit = 0.7;
/** Least share of the characters of a Chinese message, frame words excepted, in the triggers of its line. */
const leastHanShare = 0.5;

/** Fit of a line with a trigger, or a paraphrase of one, that is the message: its shape says no more. */
export const paraphrased = 0.98;
/** Factor on the share of a trigger that has no topic of the message. */
const farShare = 0.9;
/** Factor on the fit of a line that does not concern the user, to a question that does. */
const userShare = 0.7;
/** Factor on the fit of a line without the number, name or person asked for. */
const lackingShare = 0.45;
/** Factor on the fit of a line with a trigger for a name, to a question for something else. */
const nameShare = 0.6;
/** Factor on the fit of a line about the character's mother to a question about the user's. */
const ownerShare = 0.4;

/** True if the message says "my" of what the trigger says "your" of, or the other way round; or if both begin with "my", of different things. */
function isOfOtherOwner(message: string, ask: string): boolean {
  const [ofUser, ofCharacter] = [ownedIn(message, 'my'), ownedIn(message, 'your')];
  const [askOfUser, askOfCharacter] = [ownedIn(ask, 'my'), ownedIn(ask, 'your')];
  const isOfMine = /^my\b/iu.test(message) && /^my\b/iu.test(ask);
  const isOfAnother = isOfMine && !ofUser.some((term) => askOfUser.includes(term));
  return (
    isOfAnother ||
    ofUser.some((term) => askOfCharacter.includes(term)) ||
    ofCharacter.some((term) => askOfUser.includes(term))
  );
}

function ownedIn(text: string, whose: 'my' | 'your'): string[] {
  const owned = text
    .toLowerCase()
    .matchAll(whose === 'my' ? /\bmy ((?:\p{L}+ ?){1,2})/gu : /\byour ((?:\p{L}+ ?){1,2})/gu);
  return [...owned].flatMap(([, words = '']) => topicTerms(words));
}

/** Factor on the fit of a line: whether a trigger about the same thing asks as the message asks. */
export function suitability({ pair, part }: PartHit): number {
  const topics = topicTerms(part).filter((topic) => !weakTopics.has(topic));
  const related = pair.asks.filter((ask) => {
    const terms = new Set(searchTerms(ask));
    return topics.some((topic) => terms.has(topic));
  });
  const shares = pair.asks.map(
    (ask) => (related.length === 0 || related.includes(ask) ? 1 : farShare) * agreement(part, ask),
  );
  return Math.max(...shares) * (hasWhatIsAsked(part, related, pair.reply) ? 1 : lackingShare);
}

/** Agreement of a trigger with a message: the same kind of thing, about the same person. */
function agreement(part: string, ask: string): number {
  const hasTopic = topicTerms(part).length > 0;
  if (hasTopic && interjection.test(ask)) return ownerShare;
  if (ofOthers.test(part) && ofSpeaker.test(ask) && !ofSpeaker.test(part)) return ownerShare;
  if (isOfOtherOwner(part, ask) || isOfOtherSubject(part, ask)) return ownerShare;
  if (isOfOtherVerb(part, ask)) return ownerShare;
  const kin = kinship(part, ask) * ofNames(part, ask);
  if (ofUserOnly.test(part) && !ofUserOnly.test(ask)) return userShare * kin;
  const isBare = oneWord.test(ask);
  // Frame words alone add nothing to the shape.
  const share = isBare ? bareShare : kin < 1 && !hasTopic ? otherThingShare : kin;
  const isOfYou = ofYou.test(part);
  if (isBare || isOfYou === ofYou.test(ask)) return share;
  return share * ((!isOfYou && ofOthers.test(part)) || isStated(shapeOf(part)) ? otherThingShare : otherPersonShare);
}

/** Factor on the fit of a trigger for the character's own name, or for any name, to a question for another or none. */
function ofNames(part: string, ask: string): number {
  if (isForName(part)) return ownName.test(ask) ? ownerShare : 1;
  return isForName(ask) && shapeOf(part) !== 'who' ? nameShare : 1;
}

/** Verb of a Chinese question: "吃什么", "想些什么". */
const verbAsked = /(?<!为)([\p{Script=Han}])(?:[了过着到]|的是)?些?什么(?![^，,]*什么)/u;
const anyVerb = /[为没有是叫做干的说讲]/u;

/** True if two Chinese questions ask for the objects of different verbs. */
function isOfOtherVerb(message: string, ask: string): boolean {
  const [, verb = ''] = verbAsked.exec(message) ?? [];
  const [, other = ''] = verbAsked.exec(ask) ?? [];
  return verb !== '' && other !== '' && verb !== other && !anyVerb.test(verb) && !anyVerb.test(other);
}

const ownName = /\byour (?:\p{L}+ )?names?\b|\bwho are you\b|^你(?:的名字)?叫|你是谁/iu;

/** True if the triggers of a line about the same thing ask about the character, and a question about somebody else. */
export function isOfOthers({ asks }: DialoguePair, question: string): boolean {
  const topics = topicTerms(question);
  const related = asks.filter((ask) => topicTerms(ask).some((term) => topics.includes(term)));
  return related.length > 0 && related.every((ask) => isOfOtherSubject(question, ask));
}

/** True if all triggers are statements of users about themselves: they answer no question. */
export function isOfUser(asks: readonly string[]): boolean {
  return asks.every(
    (ask) => !isAskedIn(ask) && !oneWord.test(ask) && /^(?:i|i'm|i’m|my|everyone|nobody)\b|^我/iu.test(ask),
  );
}

const interjection = /^(?:no|yes|ok|okay|what|why|how|really|sorry|thanks|hello|hi|pardon|please|right)$/iu;
/** A trigger that is a bare subject. */
const oneWord = /^(?:[\p{L}'’-]+|\p{Script=Han}{1,6})$/u;

/** A question for something that concerns the user: "Do you read me?" */
const ofUserOnly = /\byou (?:\p{L}+ )?(?!tell|give|show|teach|help|want|let|get)\p{L}+ me\b(?! \p{L})/iu;
const ofSpeaker = /\b(?:me|us)\b|我/iu;
export const ofOthers =
  /\b(?:he|she|they|his|hers?|him|them|theirs?|its?|(?:can|could|should|do|did|am|must|will) i)\b|[他她它]/iu;
const ofYou = /\byou(?:r|'re|’re|rs)?\b|你/iu;

/** "Who is the strongest?": one of many, which a line about all of them does not answer. */
const superlative =
  /\b(?:most|best|worst|favou?rite|first|only|(?!guest|forest|interest|honest|rest|west|east|test|priest|harvest)\p{L}{3,}est)\b|最(?!怕|喜欢|爱|讨厌|恨|想)/iu;

/** True unless the message asks for the one of many that stands out, and the line names none. */
export function singlesOut({ asks, reply }: DialoguePair, message: string): boolean {
  return !superlative.test(message) || superlative.test(`${asks.join(' ')} ${reply}`);
}

/** A name that a message speaks of; its first word may be any word. */
const nameWithin = /(?<=[\p{L},] )\p{Lu}\p{Ll}+/gu;
const title =
  /^(?:Sir|Lord|Lady|King|Queen|Captain|General|Inspector|Doctor|Dr|Mr|Mrs|Miss|Professor|President|Earl|Duke)$/u;

/**
 * True for a hit that shares only weak topics with a message that has others ("I hate Mondays", "I hate you"), or that
 * says nothing of most of its strong topics, or not of a person or place that the message names.
 */
export function isKeywordOnly({ pair, fit, part }: PartHit, isAsked: boolean): boolean {
  if (fit >= wordForWord) return false;
  if (lacksSubject({ pair, part })) return true;
  const asked = new Set(searchTerms(pair.asks.join(' ')));
  const said = new Set(searchTerms(pair.reply));
  const topics = topicTerms(part);
  const strong = topics.filter((topic) => !weakTopics.has(topic));
  if (strong.length === 0)
    return topics.length > 0 && (fit < leastWeakFit || !topics.every((topic) => asked.has(topic)));
  if (/\p{Script=Han}/u.test(part)) {
    // Pairs of characters overlap words; single characters show which words the line leaves out.
    const signs = strong.filter((topic) => topic.length === 1);
    return signs.filter((sign) => asked.has(sign)).length < signs.length * leastHanShare;
  }
  if (!isAsked && strong.length === 1 && fit < leastSingleFit) return true;
  const known = strong.filter((topic) => asked.has(topic) || said.has(topic)).length;
  return known * 2 < strong.length;
}

/** True if the part names a person or place of whom the line says nothing, or has a rare word that the line lacks. */
export function lacksSubject({ pair, part }: Pick<PartHit, 'pair' | 'part'>): boolean {
  const names = [...part.matchAll(nameWithin)].flatMap(([name]) => (title.test(name) ? [] : topicTerms(name)));
  const rare = /\p{Script=Han}/u.test(part) ? [] : unknownWordsIn(part).flatMap(topicTerms);
  const told = new Set(searchTerms(`${pair.asks.join(' ')} ${pair.reply}`));
  return [...names, ...rare].some((term) => !told.has(term));
}

const besides =
  /\b(?:besides|apart from|other than|aside from|except(?: for)?) ([\p{L}'’ ]{2,30}?)(?=[,.?!]|\b(?:what|who|where|which|do|is|are)\b|$)|除了([\p{Script=Han}]{1,6}?)(?:以外|之外)?[，,]/iu;

/** True for a reply about what the message leaves out: "Besides peaches, what do you like to eat?" */
export function tellsOfExcepted(message: string, reply: string): boolean {
  const [, english = '', chinese = ''] = besides.exec(message) ?? [];
  const excepted = topicTerms(`${english}${chinese}`).filter((term) => !weakTopics.has(term));
  const told = new Set(searchTerms(reply));
  return excepted.length > 0 && excepted.every((term) => told.has(term));
}

const numeral =
  /\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|hundreds?|thousands?|millions?|dozens?|half|twice|thrice|none|neither|countless|only one|but one|an only|no (?:\p{L}+ )?(?:brothers?|sisters?|children|son|daughter|wife|husband|friends?))\b|[二两三四五六七八九十百千万半独]|一[个只条位岁年本次回百千万]|没有|数不/iu;
/** A list that can be counted: "Latin, Greek, French and Italian". */
const list = /\p{Lu}\p{Ll}+\b[^.!?]*\P{L}\p{Lu}\p{Ll}+\b[^.]*\P{L}\p{Lu}\p{Ll}+\b/u;
/** Unit of the answer to a question for a measure, if it is no plain number. */
const measures: readonly (readonly [RegExp, RegExp])[] = [
  [
    /^often$/u,
    /\b(?:every|each|daily|nightly|once|twice|always|never|seldom|rarely|often|sometimes)\b|每|从不|常|天天/iu,
  ],
  [
    /^long$|^多[久长]$/u,
    /\b(?:years?|months?|weeks?|days?|hours?|minutes?|since|all my life|ever after|forever|always)\b|年|天|月|日|辈子/iu,
  ],
];
/** A name within a sentence; the first word of one may be any word. */
const properName = /(?<=[\p{Ll},;:'’] )(?!I\b)\p{Lu}\p{Ll}+|叫|名|唤|号/u;
const somebody =
  /(?<=[\p{Ll},;:'’] )(?!I\b)\p{Lu}\p{Ll}+|\b(?:he|she|they|him|her|them|nobody|no one|none|everyone|everybody|myself|i am|my \p{L}+)\b|\p{Script=Han}/iu;
/** "What is the name of your ship?", "What's your dog called?"; not the character's own name. */
const asksName =
  /^(?!.*\byour (?:\p{L}+ )?names?\b).*\b(?:what|which)\b.*\b(?:names?|called|named)\b|\byour \p{L}+['’]s? names?\b|(?<!^你)叫(?:什么|啥)|名字/iu;

/** True for a question for the name of a person or thing other than the character. */
function isForName(message: string): boolean {
  return asksName.test(message) && shapeOf(message) === 'what';
}

/**
 * True unless a question asks for a number, a name, a person, or one of two things, and the reply has none. A trigger
 * that asks for the same is trusted.
 */
function hasWhatIsAsked(message: string, asks: readonly string[], reply: string): boolean {
  const shape = shapeOf(message);
  const isAskedBy = (is: (ask: string) => boolean): boolean => asks.some((ask) => shapeOf(ask) === shape && is(ask));
  if (shape === 'number') {
    const measure = measureIn(message);
    const wanted = measures.find(([measured]) => measured.test(measure))?.[1] ?? numeral;
    return (
      wanted.test(reply) || numeral.test(reply) || list.test(reply) || isAskedBy((ask) => measureIn(ask) === measure)
    );
  }
  if (isForName(message)) return properName.test(reply) || asks.some(isForName);
  if (shape === 'who') return somebody.test(reply) || isAskedBy(() => true);
  if (shape === 'either') {
    const said = new Set(searchTerms(`${asks.join(' ')} ${reply}`));
    return alternativesIn(message).some((term) => said.has(term));
  }
  return true;
}
