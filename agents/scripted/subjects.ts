import type { DialoguePair } from '../../characters/card.ts';
import type { Character } from '../../characters/character.ts';
import type { FindLines } from '../retrieval/line-index.ts';
import { oncePer } from '../once-per.ts';
import { topicTerms, weakTopics, isAskedIn } from '../retrieval/words.ts';
import { shapeOf, type Shape } from './shapes.ts';
import { lineSaid, longestFollowUp } from './follow-up.ts';

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
