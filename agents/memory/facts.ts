/** Topics with a single value: a new fact replaces the old one. */
type Topic = 'name' | 'home' | 'work' | 'age' | 'birthday';

/** A statement of the user about themselves, in their own words. */
export interface StatedFact {
  readonly topic?: Topic;
  readonly text: string;
}

/** Longest fact in characters; longer statements are left to the summary. */
const longestFact = 160;
const mostFacts = 5;

const topics: readonly (readonly [Topic, RegExp])[] = [
  ['name', /\b(?:my name is|my name's|call me|i am called|i'm called)\s+\p{L}/iu],
  ['name', /我(?:的名字)?(?:叫|名叫)(?!.{0,3}[吗么])\p{L}/u],
  ['home', /\bi(?:'m| am)? (?:live|living|moved|grew up)\b.{0,20}\b(?:in|at|to|near)\s|\bi(?:'m| am| come) from\s/iu],
  ['home', /我(?:现在)?(?:住在|家在|搬到|来自)/u],
  ['work', /\bi (?:work|worked) (?:as|at|for|in)\b|\bmy (?:job|profession|work) is\b/iu],
  ['work', /我(?:的职业|的工作|在.{1,12}(?:工作|上班))/u],
  ['age', /\bi(?:'m| am) (?:\d{1,3}|\p{L}+(?:[- ]\p{L}+)?) years? old\b/iu],
  ['age', /我(?:今年)?[\d零一二三四五六七八九十]{1,4}岁/u],
  ['birthday', /\bmy birthday is\b/iu],
  ['birthday', /我的?生日是/u],
];

const others: readonly RegExp[] = [
  /\bi(?:'m| am) (?:an?|allergic|afraid|married|engaged|divorced|learning|studying|vegan|vegetarian|blind|deaf)\b/iu,
  /\bi (?:really |always |never |also )*(?:like|love|hate|dislike|prefer|enjoy|adore|fear|own|play|study|collect|have (?:an?|two|three|four|five|\d+))\b/iu,
  /\bi (?:can't|cannot|don't|do not) (?:stand|like|eat|drink)\b/iu,
  /\bmy (?:favou?rite|mother|father|mum|mom|dad|sister|brother|wife|husband|partner|son|daughter|children|kids|dog|cat|horse|friend|best friend|boyfriend|girlfriend|grandmother|grandfather|aunt|uncle|boss|teacher)\b.*\b(?:is|are|was|were|has|have|had|lives?|works?|died|likes?|loves?|called|named)\b/iu,
  /我(?:很|最|也|特别|非常|不|讨)?(?:喜欢|爱(?!人)|讨厌|厌|怕|害怕|养了|有一|有两|对.{1,8}过敏)/u,
  /我(?:的)?(?:妈妈|爸爸|母亲|父亲|姐姐|妹妹|哥哥|弟弟|妻子|丈夫|儿子|女儿|狗|猫|朋友).{0,12}(?:是|叫|有|在|住)/u,
];

/** Statements of the user about themselves, by English and Chinese patterns; no questions, wishes or suppositions. */
export function factsIn(text: string): StatedFact[] {
  const found = sentencesOf(text).flatMap((sentence): StatedFact[] => {
    if (sentence.length > longestFact || isNoStatement(sentence)) return [];
    const topic = topics.find(([, form]) => form.test(sentence))?.[0];
    if (topic !== undefined) return [{ topic, text: sentence }];
    return others.some((form) => form.test(sentence)) ? [{ text: sentence }] : [];
  });
  return found.slice(0, mostFacts);
}

/** Splits a text into sentences, with their punctuation. */
export function sentencesOf(text: string): string[] {
  return (text.match(/[^.!?。！？\n]+[.!?。！？]*/gu) ?? []).map((sentence) => sentence.trim()).filter(Boolean);
}

function isNoStatement(sentence: string): boolean {
  return (
    /[?？]$/u.test(sentence) ||
    /^(?:if|suppose|imagine|do|does|did|what|who|where|when|why|how|can|could|would|should|is|are)\b/iu.test(
      sentence,
    ) ||
    /^(?:如果|要是|假如|假设)|[吗么呢]$/u.test(sentence)
  );
}
