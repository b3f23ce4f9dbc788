import type { DialoguePair } from '../../characters/card.ts';
import type { Character } from '../../characters/character.ts';
import { oncePer } from '../once-per.ts';
import { indexLines } from '../retrieval/line-index.ts';
import { topicTerms, weakTopics } from '../retrieval/words.ts';
import { inFirstPerson, sentences, toListener, upperFirst } from './first-person.ts';

/** A pack with as many lines speaks for itself: nothing is derived from its card. */
const enoughLines = 60;
/** A message that fits one of the pack's own lines this well gets no derived line. */
const coveredFit = 0.6;
const longestReply = 320;
const mostSentences = 200;
const mostLore = 500;
const mostKeys = 8;
const mostTopics = 40;
const fewestLetters = 3;

/** Messages that newcomers send to anybody, and where a card has the answer. */
interface Ask {
  readonly en: readonly string[];
  readonly zh: readonly string[];
  /** Keys of a list of attributes: "Age: 54". */
  readonly keys?: RegExp;
  /** Begins the reply if it is the value of an attribute. */
  readonly says?: string;
  /** A sentence of the description that answers. */
  readonly told: RegExp;
}

const place: Ask = {
  en: ['Where are we?', 'Where are you right now?', 'Where do you live?'],
  zh: ['你在哪里？', '你住在哪里？', '你现在在什么地方？'],
  keys: /^(?:home|residence|location|lives in|address|住处|住址|所在地)$/iu,
  told: /\b(?:lives?|living|dwells?|resides?|home|house|inn|castle|village|city|town|shop|tavern|aboard)\b|住在|家在/iu,
};
const work: Ask = {
  en: ['What do you do?', 'What is your job?', 'What do you do all day?'],
  zh: ['你是做什么的？', '你的工作是什么？', '你每天都干什么？'],
  keys: /^(?:occupation|job|profession|work|role|class|职业|工作|身份)$/iu,
  told: /\b(?:works?|worked|keeps|runs|owns|serves|sells|profession|trade|job|occupation|employed|duty)\b|工作|职业|经营|老板/iu,
};
const others: readonly Ask[] = [
  {
    en: ['Where are you from?', 'Where were you born?', 'Where did you grow up?'],
    zh: ['你是从哪里来的？', '你的家乡在哪儿？'],
    keys: /^(?:birthplace|origin|hometown|nationality|from|出身|家乡|籍贯)$/iu,
    told: /\b(?:born|grew up|raised|comes? from|hails? from)\b|出生|来自|长大/iu,
  },
  {
    en: ['How old are you?', 'What is your age?'],
    zh: ['你几岁了？'],
    keys: /^(?:age|年龄)$/iu,
    says: 'I am ',
    told: /\b(?:years?[ -]old|aged?|(?:of|is) (?:about )?(?:\d\d|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty)(?:-\p{L}+)?))\b|岁/iu,
  },
  {
    en: ['What do you like?', 'What do you do for fun?', 'What are your hobbies?', 'What do you love?'],
    zh: ['你喜欢什么？', '你有什么爱好？'],
    keys: /^(?:likes?|loves?|hobby|hobbies|interests?|喜欢|爱好|喜好)$/iu,
    says: 'I like ',
    told: /\b(?:loves?|likes?|enjoys?|adores?|hobby|hobbies|favou?rite|fond of)\b|喜欢|爱好/iu,
  },
  {
    en: ['What are you afraid of?', 'What do you fear?'],
    zh: ['你怕什么？'],
    keys: /^(?:fears?|afraid of|害怕|恐惧)$/iu,
    told: /\b(?:fears?|afraid|scared|terrified|dreads?)\b|怕|恐惧/iu,
  },
  {
    en: ['What do you hate?', 'What do you dislike?'],
    zh: ['你讨厌什么？'],
    keys: /^(?:dislikes?|hates?|讨厌|厌恶)$/iu,
    says: 'I do not like ',
    told: /\b(?:hates?|dislikes?|despises?|loathes?)\b|讨厌|憎恨/iu,
  },
];

/** Sentences and attributes of a card, ready to be said. */
interface Told {
  readonly isChinese: boolean;
  readonly prose: readonly string[];
  readonly attributes: readonly { readonly key: string; readonly value: string }[];
  readonly say: (text: string) => string;
}

/**
 * Lines of a character without enough of its own, imported or new: who it is, its work, place, time, people, likes and
 * lore, in its words, from its card. Its example dialogue comes first and is never replaced.
 */
export const linesOf: (character: Character) => readonly DialoguePair[] = oncePer((character: Character) => {
  if (character.lines.length >= enoughLines) return character.lines;
  const find = indexLines(character.lines, character.name);
  const isCovered = (ask: string): boolean => (find(ask)[0]?.fit ?? 0) >= coveredFit;
  const derived = derivedOf(character).flatMap(({ asks, reply }) => {
    const open = asks.filter((ask) => !isCovered(ask));
    return open.length === 0 || reply === '' ? [] : [{ asks: open, reply }];
  });
  return [...character.lines, ...derived];
});

function derivedOf(character: Character): DialoguePair[] {
  const { name, profile, background, scenario = '', knowledge, experiences = [] } = character;
  const isChinese = character.languages[0]?.startsWith('zh') === true;
  const all = [profile, background, ...experiences].flatMap(sentences).slice(0, mostSentences);
  const told: Told = {
    isChinese,
    prose: all.filter(isProse),
    attributes: all.flatMap(attributeIn),
    say: (text) => spoken(toListener(inFirstPerson(text, name)), isChinese),
  };
  const year = knowledge.untilYear;
  return [
    who(character, told),
    { ...answerTo(place, told), ...(scenario === '' ? {} : { reply: told.say(scenario) }) },
    { ...answerTo(work, told), reply: answerTo(work, told).reply || told.say(told.prose[0] ?? '') },
    ...others.map((ask) => answerTo(ask, told)),
    {
      asks: isChinese ? ['现在是哪一年？'] : ['What year is it?', 'When do you live?'],
      reply: year === undefined ? '' : isChinese ? `现在大约是${year}年。` : `It is about the year ${year}.`,
    },
    ...peopleOf(character, told),
    ...loreOf(character, told),
    ...told.prose.map((sentence) => ({ asks: topicsIn(sentence), reply: told.say(sentence) })),
    ...told.attributes.map(({ key, value }) => ({
      asks: [isChinese ? `你的${key}是什么？` : `What is your ${key.toLowerCase()}?`, ...topicsIn(value)],
      reply: valueSaid(key, value, told),
    })),
  ];
}

function who({ name, identity }: Character, { isChinese, prose, say }: Told): DialoguePair {
  const about = say((isProse(identity) ? identity : prose[0]) ?? '');
  return {
    asks: isChinese
      ? ['你是谁？', '你叫什么名字？', '介绍一下你自己']
      : ['Who are you?', 'What is your name?', 'Tell me about yourself'],
    reply: isChinese ? `我是${name}。${about}` : `I am ${name}. ${about}`.trim(),
  };
}

function answerTo(ask: Ask, told: Told): DialoguePair {
  const attribute = told.attributes.find(({ key }) => ask.keys?.test(key) === true);
  const sentence = told.prose.find((one) => ask.told.test(one)) ?? '';
  const reply = attribute === undefined ? told.say(sentence) : valueSaid(attribute.key, attribute.value, told);
  return { asks: [...(told.isChinese ? ask.zh : ask.en)], reply };
}

function valueSaid(key: string, value: string, { isChinese }: Told): string {
  const says = isChinese ? undefined : others.find(({ keys }) => keys?.test(key) === true)?.says;
  return spoken(says === undefined ? upperFirst(value) : `${says}${value}`, isChinese);
}

function peopleOf({ relationships }: Character, { isChinese }: Told): DialoguePair[] {
  const names = relationships.map(({ name }) => name).slice(0, 3);
  if (names.length === 0) return [];
  return [
    {
      asks: isChinese
        ? ['你有朋友吗？', '你认识谁？']
        : ['Do you have friends?', 'Tell me about your family', 'Who do you know?'],
      reply: isChinese ? `有${names.join('、')}。` : `There is ${names.join(', and ')}.`,
    },
    ...relationships.map(({ name, relation }) => ({
      asks: isChinese
        ? [`${name}是谁？`, `说说${name}`]
        : [`Who is ${name}?`, `Tell me about ${name}`, `Do you know ${name}?`],
      reply: spoken(isChinese ? `${name}？${relation}。` : `${name}? ${upperFirst(relation)}.`, isChinese),
    })),
  ];
}

function loreOf({ lorebook }: Character, { isChinese, say }: Told): DialoguePair[] {
  return lorebook
    .filter(({ regex, enabled, keys }) => regex !== true && enabled !== false && keys.length > 0)
    .slice(0, mostLore)
    .map(({ keys, content }) => ({
      asks: keys
        .slice(0, mostKeys)
        .flatMap((key) =>
          isChinese ? [`说说${key}`, `${key}是什么？`] : [`Tell me about ${key}`, `What is ${key}?`, `Who is ${key}?`],
        ),
      reply: say(content.replaceAll(/^@@.*$/gmu, '')),
    }));
}

/** "Age: 54" in a description. */
function attributeIn(line: string): { readonly key: string; readonly value: string }[] {
  const [, key = '', value = ''] = /^[-*• ]*(\p{L}[\p{L} ]{0,20})[:：]\s*(\P{C}{1,200})$/u.exec(line) ?? [];
  if (key === '' || /["{}[\]|<>=+]/u.test(value)) return [];
  return [{ key: key.trim(), value: value.replace(/[,;.。\s]+$/u, '') }];
}

/** Whole sentences for a reply. */
function spoken(text: string, isChinese: boolean): string {
  let reply = '';
  for (const sentence of sentences(text).slice(0, 2)) {
    if (reply.length + sentence.length >= longestReply) break;
    reply = `${reply}${reply === '' || isChinese ? '' : ' '}${upperFirst(sentence)}`;
  }
  if (reply === '' || /[.!?。！？…"”]$/u.test(reply)) return reply;
  return `${reply}${isChinese ? '。' : '.'}`;
}

/** True for a sentence that can be said: no attribute list of a card. */
function isProse(sentence: string): boolean {
  return !/["“”{}[\]|<>=+*#]|^[-• ]*\p{L}[\p{L} ]{0,20}[:：]/u.test(sentence) && sentence.length <= longestReply;
}

/** Words of a sentence by which it is found; pairs of characters in Chinese. */
function topicsIn(sentence: string): string[] {
  const words = /\p{Script=Han}/u.test(sentence)
    ? topicTerms(sentence)
    : (sentence.match(/[\p{L}'’-]+/gu) ?? []).filter(
        (word) => word.length >= fewestLetters && topicTerms(word).some((term) => !weakTopics.has(term)),
      );
  return [...new Set(words)].slice(0, mostTopics);
}
