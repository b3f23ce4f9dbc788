import type { DialoguePair } from '../../characters/card.ts';
import type { Character } from '../../characters/character.ts';
import type { Message } from '../chat.ts';
import type { FindLines, LineHit } from '../retrieval/line-index.ts';
import { oncePer } from '../once-per.ts';
import { topicTerms, weakTopics, isAskedIn } from '../retrieval/words.ts';
import { kinship, shapeOf, type Shape } from './shapes.ts';
import { lineSaid, longestFollowUp, refers } from './follow-up.ts';

/** Person of a question's subject: the character, the user, a third person, or somebody or something that it names. */
type Subject = 'you' | 'user' | 'third' | 'named';

const lead = String.raw`^(?:(?:and|but|so|then|well|ok|okay|oh|wow|hey|really|hm+|yes|no|sorry)\W+)*`;
const auxiliary = String.raw`(?:do|does|did|is|are|was|were|has|have|had|can|could|will|would|should|must|might)(?:n['’]t)?`;
const interrogative = String.raw`(?:what|who|whom|whose|which|where|when|why|how)`;
/** Question word, auxiliary and subject: "How long |has| |he| served you?" */
const asked = new RegExp(
  String.raw`${lead}(?:(?:in|at|on|to|from|with|for|by) )?(?:${interrogative}(?: (?!${auxiliary}\b)[\p{L}'’]+){0,3}? )?(${auxiliary}) (?:not )?(\p{L}+['’]?\p{L}*)`,
  'iu',
);
const contracted = new RegExp(String.raw`${lead}${interrogative}['’](?:s|re|d) (\p{L}+['’]?\p{L}*)`, 'iu');
const persons: readonly (readonly [Subject, RegExp])[] = [
  ['you', /^you$/iu],
  ['user', /^(?:i|we|my|our|me|us)$/iu],
  ['third', /^(?:he|she|they|his|her|their|him|them)$/iu],
];
/** Words in the place of a subject that name nothing. */
const empty = /^(?:your|it|this|that|there|these|those|the|an?|any|some|one|no|not|all|each|every|both)$/iu;

/** Returns the person of an English question's subject; undefined if it has none, or one that says nothing ("it"). */
function subjectOf(question: string): Subject | undefined {
  const [, ofShort] = contracted.exec(question) ?? [];
  const [, verb = 'is', word = ''] = ofShort === undefined ? (asked.exec(question) ?? []) : [question, 'is', ofShort];
  // "How is your day?" asks of the character, "What does your wife want?" does not.
  if (/^your$/iu.test(word) && !/^(?:is|are|was|were)/iu.test(verb)) return 'named';
  if (word === '' || empty.test(word)) return undefined;
  return persons.find(([, wording]) => wording.test(word))?.[0] ?? 'named';
}

const ofThird = /^[^你，,]*[他她][^你]*$/u;
/** Shapes of questions that ask for something for the user. */
const ofUser: ReadonlySet<Shape> = new Set(['request', 'leave', 'advice', 'urge']);
const wereYou = /\bwere(?:n['’]t)? you\b|^how \p{L}+ were you\b/iu;
const areYou = /\bare(?:n['’]t)? you\b/iu;

/** "What does your wife think?" is not answered by what she is like. */
const ofOthersMind =
  /^\W*(?:and |but )?what (?:does|did|do|would|will) (?!you\b|i\b).*\b(think|say|want|know|feel|call)\b/iu;
/** Chinese: a trigger whose subject is somebody with a name: "猪八戒最怕什么？" */
const ofNamedInChinese = /^(?![你我谁哪什怎为给讲说请])\p{Script=Han}{2,3}(?:最|怕|爱|喜欢|为什么|怎么|现在|会|能|有)/u;
const ofUserSelf = /\bi am\b|\bam i\b|\bmy age\b/iu;

/** Longest question whose subject is looked for: these patterns take the square of its length. */
const longestQuestion = 200;

/** True if a question is about others or another time, and the trigger of a line is about the character now. */
export function isOfOtherSubject(question: string, trigger: string): boolean {
  if (question.length > longestQuestion) return false;
  return /\p{Script=Han}/u.test(question)
    ? isOfOtherInChinese(question, trigger)
    : isOfOtherInEnglish(question, trigger);
}

function isOfOtherInChinese(question: string, trigger: string): boolean {
  if (/^你(?!们)/u.test(question)) return !trigger.includes('你') && ofNamedInChinese.test(trigger);
  return ofThird.test(question) && !ofThird.test(trigger) && trigger.includes('你');
}

function isOfOtherInEnglish(question: string, trigger: string): boolean {
  const [, verb] = ofOthersMind.exec(question) ?? [];
  if (verb !== undefined && !new RegExp(String.raw`\b${verb}`, 'iu').test(trigger)) return true;
  if (wereYou.test(question) && areYou.test(trigger) && !wereYou.test(trigger)) return true;
  const [subject, other] = [subjectOf(question), subjectOf(trigger)];
  if (subject !== 'you')
    return (subject === 'third' || subject === 'named') && other === 'you' && !/\byou\b/iu.test(question);
  const isOfNumber = other !== undefined && other !== 'you' && shapeOf(question) === 'number';
  return other === 'user' || isOfNumber || (ofUserSelf.test(trigger) && !ofUserSelf.test(question));
}

/** A third person, or two, of whom a question asks without a name. */
const unnamed = /\b(?:he|she|him|her|his|they|them|their|you two|the two of you|you both|each other)\b/iu;
const ownNoun = /\b(?:your|my|our|the|that|this|an?) \p{L}+\b.*\b(?:he|him|she|her|they|them|his|their)\b/iu;
const names = /(?<=[\p{L},;'’] )\p{Lu}\p{Ll}+/gu;

/** Of whom a question may have asked without a name. */
const kin =
  /\b(?<=your (?:\p{L}+ )?)(?:father|dad|mother|mum|mom|wife|husband|brother|sister|son|daughter|friend|teacher|master|servant)s?\b/giu;

/**
 * For an English question about somebody unnamed ("How did he die?") after talk of somebody with a name, returns a search
 * among the lines that have a name or a subject of which was spoken. Other messages are searched for as they are.
 */
export function amongSamePersons(
  { find, lines, character }: { find: FindLines; lines: readonly DialoguePair[]; character: Character },
  { userMessage, before, lastReply }: Readonly<Record<'userMessage' | 'before' | 'lastReply', string>>,
): FindLines {
  if (userMessage.length > longestFollowUp) return find;
  const hasName = userMessage.match(names) !== null || ownNoun.test(userMessage);
  if (!isAskedIn(userMessage) || !unnamed.test(userMessage) || hasName) return find;
  if (ofUser.has(shapeOf(userMessage))) return find;
  const own = new Set(topicTerms(character.name));
  const triggers = lineSaid(lines, lastReply)?.asks ?? [];
  const named = [
    ...[before, lastReply, ...triggers].flatMap((text) => text.match(names) ?? []),
    ...(before.match(kin) ?? []),
  ];
  if (named.every((name) => own.has(topicTerms(name)[0] ?? name))) return find;
  const spokenOf = new Set(
    topicTerms([...named, before, ...triggers].join(' ')).filter((term) => !weakTopics.has(term)),
  );
  const isOfThem = oncePer(({ asks, reply }: DialoguePair) =>
    topicTerms(`${asks.join(' ')} ${reply}`).some((term) => spokenOf.has(term)),
  );
  return (text) => find(text).filter(({ pair }) => isOfThem(pair));
}

/** A third person of whom a question asks; "her" only where it is no possessive. */
const thirdPerson =
  /\b(?:he|him|she|they|them|her(?=\W*$| (?:at|in|on|to|with|of|as|now|then|again|really|still|too)\b))\b/iu;
/** "How did you meet?" means the one spoken of. */
const howMet = /^(?:(?:and|so|but) )?((?:how|where|when) did you)(?: two| both)?(?: first)? meet\W*$/iu;
/** "And your brother, do you see him?" says itself whom it means. */
const hasOwnNoun = /\b(?:your|my|our|the|that|this|an?) \p{L}+\b.*\b(?:he|him|she|her|they|them)\b/iu;
/** Names of places follow a preposition. */
const fullNames = /(?<=[\p{Ll},] )(?<!\b(?:in|from|to|at|near) )\p{Lu}[\p{Ll}'’]+(?: \p{Lu}[\p{Ll}'’]+)*/gu;

/**
 * Returns a question about "him" or "them" with the name in place of the pronoun: that in the user's last question, else
 * the one most often in the triggers of the line that was said last. Undefined if there is no such name.
 */
export function withName(userMessage: string, before: string, triggers: readonly string[], self: string) {
  const asked = userMessage.replace(howMet, '$1 meet him?');
  if (userMessage.length > longestFollowUp || !thirdPerson.test(asked) || hasOwnNoun.test(asked)) return undefined;
  const found = [[before], triggers].map((texts) => {
    const named = texts.flatMap((text) => text.match(fullNames) ?? []).filter((name) => !self.includes(name));
    const counts = Map.groupBy(named, (name) => name);
    return [...counts].toSorted(([, left], [, right]) => right.length - left.length)[0]?.[0];
  });
  const name = found.find((one) => one !== undefined);
  return name === undefined ? undefined : asked.replace(thirdPerson, name);
}

const asksWho = /^(\p{Script=Han}{2,4})是谁/u;

/** Returns a Chinese question about "him" with a name of which these texts speak, one of whom a line says who it is. */
export function withNameInChinese(
  userMessage: string,
  spoken: readonly string[],
  lines: readonly DialoguePair[],
): string | undefined {
  if (!/[他她](?!们)/u.test(userMessage)) return undefined;
  const known = lines.flatMap(({ asks }) => asks.flatMap((ask) => asksWho.exec(ask)?.[1] ?? []));
  const [name] = spoken.flatMap((text) =>
    known.filter((one) => text.includes(one)).toSorted((left, right) => right.length - left.length),
  );
  return name === undefined || userMessage.includes(name) ? undefined : userMessage.replace(/[他她](?!们)/u, name);
}

/** Least fit of the shape of a trigger. */
const leastShape = 0.9;
/** Exchanges to which a short question may refer. */
const mostBack = 3;
const past = /\b(?:did|was|were|had)\b/iu;
const ofThere = /\b(?:there|then)\b/iu;

/** A question, and the talk before it. */
interface Asked {
  readonly findAny: FindLines;
  readonly userMessage: string;
  readonly history: readonly Message[];
  readonly lines: readonly DialoguePair[];
  readonly isFresh: (hit: LineHit) => boolean;
}

/**
 * The line with the words of a short question and a subject of the talk just before in one trigger: "What did you wear?"
 * after the coronation. A question about "him" may refer to an earlier exchange.
 */
export function inContext({ findAny, userMessage, history, lines, isFresh }: Asked): DialoguePair | undefined {
  const own = topicTerms(userMessage);
  const isReferring = refers.test(userMessage) || ofThere.test(userMessage);
  const isShort = userMessage.length <= longestFollowUp && own.length > 0 && own.length <= 2;
  if (!isShort || !isAskedIn(userMessage) || /\p{Script=Han}/u.test(userMessage)) return undefined;
  if (!isReferring && own.some((term) => !weakTopics.has(term))) return undefined;
  const asksAlike = (ask: string): boolean =>
    kinship(userMessage, ask) >= leastShape &&
    /\byou\b/iu.test(userMessage) === /\byou\b/iu.test(ask) &&
    past.test(userMessage) === past.test(ask);
  for (const context of contextsOf(history, lines).slice(0, isReferring ? mostBack : 1)) {
    const [best] = findAny(`${[...context].join(' ')} ${userMessage}`)
      .filter((hit) => isFresh(hit))
      .map(({ pair }) => ({
        pair,
        shared: Math.max(...pair.asks.filter(asksAlike).map((ask) => sharedBy(ask, own, context)), 0),
      }))
      .toSorted((left, right) => right.shared - left.shared);
    if (best !== undefined && best.shared > 0) return best.pair;
  }
  return undefined;
}

/** Subjects that a trigger has from the talk before, if it has all words of the question, and no other subject. */
function sharedBy(ask: string, own: readonly string[], context: ReadonlySet<string>): number {
  const terms = topicTerms(ask);
  const isWhole = own.every((term) => terms.includes(term));
  const others = terms.filter((term) => !own.includes(term));
  return isWhole && others.every((term) => context.has(term))
    ? others.filter((term) => !weakTopics.has(term)).length
    : 0;
}

/** Subjects of each exchange, the latest first: of what was asked, and of the triggers of the line that answered. */
function contextsOf(history: readonly Message[], lines: readonly DialoguePair[]): ReadonlySet<string>[] {
  const replies = history.flatMap(({ role, text }, index) =>
    role === 'assistant' ? [{ asked: history[index - 1]?.text ?? '', reply: text }] : [],
  );
  return replies
    .slice(-mostBack)
    .toReversed()
    .map(({ asked, reply }) => {
      const names = reply.match(/(?<=[\p{L},;:'’] )\p{Lu}\p{Ll}+/gu) ?? [];
      const triggers = lineSaid(lines, reply)?.asks ?? [];
      return new Set(topicTerms([asked, ...triggers, ...names].join(' ')).filter((term) => !weakTopics.has(term)));
    });
}
