/**
 * Characters of a message that retrieval, recall and the guardrail read: its end, which says what the user wants now. More
 * would cost every other session time, and finds nothing better.
 */
export const maxSearchedCharacters = 2_000;

/** Returns the part of a message that is searched. */
export function searchedPart(text: string): string {
  return text.length <= maxSearchedCharacters ? text : text.slice(-maxSearchedCharacters);
}

/** A text as it is compared: its search terms, and its words without marks. */
interface PreparedText {
  readonly terms: string[];
  readonly bare: string;
}

/** Prepared texts at most: the triggers and replies of some dozen packs. */
const mostPrepared = 131_072;
const prepared = new Map<string, PreparedText>();

/**
 * Prepares triggers and replies of a pack once, since each turn compares hundreds of them. Only lines of packs are kept;
 * what users say is not.
 */
export function prepareTexts(texts: readonly string[]): void {
  if (prepared.size + texts.length > mostPrepared) prepared.clear();
  for (const text of texts)
    if (!prepared.has(text)) prepared.set(text, { terms: termsOf(text), bare: withoutMarks(text) });
}

/** Lower-case words of a text, with one space between them. */
export function bareText(text: string): string {
  return prepared.get(text)?.bare ?? withoutMarks(text);
}

function withoutMarks(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

/**
 * Splits a text into search terms: lower-case, contractions expanded, endings stemmed, plain synonyms merged, fillers
 * ("well", "um") left out. Chinese has no spaces, so its terms are single characters and pairs of neighbours.
 */
export function searchTerms(text: string): string[] {
  return prepared.get(text)?.terms ?? termsOf(text);
}

function termsOf(text: string): string[] {
  const runs = [...plainText(text).matchAll(/\p{Script=Han}+|(?:(?!\p{Script=Han})[\p{L}\p{N}'])+/gu)].map(
    ([run]) => run,
  );
  const weighty = runs.filter((run) => !fillers.has(run));
  return (weighty.length > 0 ? weighty : runs).flatMap((run) =>
    /\p{Script=Han}/u.test(run) ? hanTerms(run) : openContraction(run).map(rootOf),
  );
}

/** True for terms that frame a message ("tell me about", "do you") and say nothing about its topic. */
export function isFrame(term: string): boolean {
  return (
    frames.has(term) ||
    year.test(term) ||
    (/\p{Script=Han}/u.test(term) && Array.from(term).some((character) => hanFrames.has(character)))
  );
}

/** A year in digits: lines spell it out. */
const year = /^(?:1\d|20)\d\d$/u;

/** The terms of a text that are not frame words. */
export function topicTerms(text: string): string[] {
  return searchTerms(text).filter((term) => !isFrame(term));
}

const asides = /\b(?:right now|you know|to be honest|these days)\b/g;
const tagQuestion =
  /\b(?:are|is|do|does|did|was|were|have|has|can|could|would|will)(?:n't)? (?:you|it|he|she|they|we|i)\s*\?*\s*$/;
const beforeQuestion =
  /\b(?:can|could|would|will) you (?:please |kindly )?tell (?:me|us) (?=who|what|where|when|why|how)/g;

/** Expressions of time, which say nothing about the topic. */
const whens = /\b(?:lately|recently|tonight|yesterday|(?:last|this) (?:night|morning|evening|week|month|year))\b/g;

/** A greeting or farewell with an address: "goodbye my friend", "good evening, captain". */
const addressed =
  /^((?:oh |well |and )?(?:hello|hi|hey|hail|goodbye|bye(?: bye)?|see you|farewell|good (?:day|morning|afternoon|evening|night)|thanks|thank you))(?:[\s,]+(?!(?:i|it|is|am|are|you|your|who|what|how|where|why|do|did|can|for|so|to|from|again|there|then|later|soon|tomorrow|around|next|tom|and|if|very|at)\b)[\p{L}'’-]+){1,3}[\s,]*[.!]*$/u;

/** Normalizes case and spelling, and removes decoration. */
function plainText(text: string): string {
  const plain = text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[’‘`]/g, "'")
    .replaceAll('您', '你')
    .replaceAll(/[俺咱]/g, '我')
    .replaceAll(/([哪这那])儿/g, '$1里')
    .replaceAll(/(?<=\p{Script=Han})[啊呀啦嘛哦呢吧]/gu, '')
    .replaceAll(/\bpass(?:ed|es)? away\b/g, 'died')
    .replaceAll(/\bgoodnight\b/g, 'good night')
    .replaceAll(/\ball right\b/g, 'alright')
    .replaceAll(/\b(?:work|figure)d? (?:it|that|this) out\b/g, 'solve it')
    .replaceAll(/\b(?:get|got|getting) rid of\b/g, 'remove')
    .replaceAll(/\b(?:all )?(?:on|by) (?:your|my|his|her)(?:self| own)\b(?! \w)/g, 'alone')
    .replaceAll(
      /\b(?:kick|throw|chuck|drive|cast)(?:ed)? (you |him |her |them |me |us )?out\b|\b(?:threw|thrown|drove|driven) (you |him |her |them |me |us )?out\b/g,
      'banish $1$2',
    )
    .replaceAll(beforeQuestion, '')
    .trim()
    .replace(addressed, '$1');
  const bare = plain
    .replaceAll(asides, '')
    .replaceAll(whens, '')
    .replace(/,\s*\S.{0,20}$/, (tail) => (tagQuestion.test(tail) ? '' : tail));
  return /[\p{L}\p{N}]/u.test(bare) ? bare : plain;
}

function hanTerms(run: string): string[] {
  const characters = Array.from(run);
  return [...characters, ...characters.slice(1).map((character, index) => `${characters[index] ?? ''}${character}`)];
}

const irregularContractions: Readonly<Record<string, readonly string[]>> = {
  "won't": ['will', 'not'],
  "can't": ['can', 'not'],
  cannot: ['can', 'not'],
  "let's": ['let', 'us'],
  "i'm": ['i', 'am'],
  gonna: ['going', 'to'],
  wanna: ['want', 'to'],
};
const contractionTails: Readonly<Record<string, string>> = { re: 'are', ve: 'have', ll: 'will', d: 'would' };
const beforeApostropheS = new Set(['what', 'who', 'where', 'when', 'how', 'that', 'it', 'he', 'she', 'there', 'here']);

function openContraction(word: string): readonly string[] {
  const irregular = irregularContractions[word];
  if (irregular !== undefined) return irregular;
  if (word.endsWith("n't")) return [word.slice(0, -3), 'not'];
  const [head = '', tail = ''] = word.split("'");
  const opened = contractionTails[tail];
  if (opened !== undefined) return [head, opened];
  if (tail === 's') return beforeApostropheS.has(head) ? [head, 'is'] : [head];
  return [word.replaceAll("'", '')].filter((part) => part !== '');
}

/** Synonyms; each group is indexed under its first word. */
const synonymGroups =
  'hello hi hey greetings howdy hail|goodbye bye farewell|thank thanks thankful grateful|' +
  'mother mom mum mama mommy mam mummy|grandmother grandma granny|grandfather grandpa|father dad daddy papa|' +
  'brother brothers sibling siblings|sister sisters|child children kid kids|man men gentleman gentlemen bloke blokes guy guys chap chaps fella fellas dude dudes lads|' +
  'woman women lady ladies|friend friends buddy buddies pal pals mates|film movie movies films cinema|television tv|' +
  'telephone phone smartphone smartphones phones telephones cellphone mobile|car automobile cars|' +
  'aeroplane airplane plane airplanes aeroplanes planes|sad unhappy depressed miserable|happy glad cheerful|' +
  'scared afraid frightened fear terrified scary fears scare scares|ill sick unwell|' +
  'tired exhausted weary sleepy|angry mad furious|big large huge|clever smart intelligent|' +
  'stupid idiot dumb idiotic moron|job profession occupation|begin start began started|' +
  'story tale stories tales yarn|joke jokes joking funny|poem poems poetry verse verses|favourite favorite|' +
  'ok okay alright|yes yeah yep|no nope|mister mr|missus mrs|die died dying dead death dies|' +
  'think thought thinking thinks opinion|write wrote written writing|speak spoke spoken|' +
  'go went gone going goes|fight fought|' +
  'steal stole stolen stealing steals theft nick nicked nicking pinched|' +
  'marry married marriage wedding wife husband spouse|born birth|hobbies hobby|ai robot chatbot bot|' +
  'ship vessel boat|wrong mistaken incorrect|come came|know knew known|give gave given|take took taken|' +
  'see saw seen|feel felt|say said|tell told|get got gotten|make made|hear heard|become became|' +
  'break broke broken|bring brought|build built|burn burnt|buy bought|catch caught|choose chose chosen|' +
  'draw drew drawn|drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen|find found|' +
  'fly flew flown|forget forgot forgotten|forgive forgave forgiven|grow grew grown|hang hung hanged|' +
  'hide hid hidden|hold held|keep kept|lead led|leave left|lose lost|meet met|pay paid wage wages salary|' +
  'ride rode ridden|run ran|sell sold|send sent|shoot shot|sing sang sung|sit sat|sleep slept asleep|' +
  'spend spent|stand stood|swim swam|teach taught|throw threw thrown|wake woke woken|wear wore worn|win won|' +
  'banish exile expel|enemy foe|strange weird odd peculiar|strangest weirdest oddest|hard difficult tough|' +
  'hardest toughest trickiest|doctor physician dr|dress gown frock|sweetheart girlfriend|brave courageous|' +
  'money cash|hate hated hates hating|care cares cared caring|' +
  'amazing awesome incredible wonderful brilliant';
const synonyms: ReadonlyMap<string, string> = new Map(
  synonymGroups.split('|').flatMap((group) => {
    const [first = '', ...others] = group.split(' ');
    return [first, ...others].map((word): [string, string] => [word, first]);
  }),
);

const fillers = wordSet(
  'um umm uh er erm hmm hmmm hm mm mhm ah ahh oh ohh well so really very quite just actually anyway please then exactly totally pretty ' +
    'honestly basically simply kinda sir madam mister missus monsieur majesty',
);

const frames = wordSet(
  'a an the i you me my your mine yours we us our they them their he she it its him her his this that these those ' +
    'is am are was were be been being do does did done have has had having can could will would shall should may might must ' +
    'what who whom whose which when where why how and or but if of in on at to for from with by about as than not ' +
    'tell say said talk know think ever there here any some all more much many little bit lot kind thing something anything ' +
    'nothing one get got let like want going go explain describe feel too also now again up out into over still yet day today ' +
    'see make take put come give good believe happen happened happens makes made says takes gets hear heard mean means use used people before after such',
);

const hanFrames = new Set(
  '你我他她它们的地得了着过吗呢吧啊呀啦嘛哦是在有没不很也都就还又再会能可以要想说讲给跟和与什么怎样为啥谁哪个这那些一点下最好太真请到去来知道觉今天特别非常位',
);

function rootOf(word: string): string {
  const known = synonyms.get(word);
  if (known !== undefined) return known;
  if (frames.has(word)) return word;
  const stem = stemOf(word);
  return synonyms.get(stem) ?? stem;
}

/** Strips one common English ending; crude on purpose, since both sides of a comparison are stemmed alike. */
function stemOf(word: string): string {
  if (word.length < 4 || unstemmed.has(word)) return word;
  let stem = word.replace(/our$/, 'or').replace(/ies$/, 'y');
  if (/[^s]s$/.test(stem) && !/(?:us|is)$/.test(stem)) stem = stem.slice(0, -1);
  const ending = ['ing', 'ed', 'ly'].find((tail) => stem.endsWith(tail) && stem.length - tail.length >= 3);
  if (ending !== undefined) stem = stem.slice(0, -ending.length).replace(/([^aeiouls])\1$/, '$1');
  return stem.length > 3 && stem.endsWith('e') ? stem.slice(0, -1) : stem;
}

/** Words that would become other words without their endings. */
const unstemmed = wordSet(
  'care really during being king ring sing wing spring string evening morning wedding bed red need',
);

function wordSet(words: string): ReadonlySet<string> {
  return new Set(words.split(' '));
}

/** Languages that a script is written in, the likeliest first. */
const languagesOfScripts: readonly (readonly [RegExp, readonly string[]])[] = [
  [/[\p{Script=Hiragana}\p{Script=Katakana}]/gu, ['ja']],
  [/\p{Script=Hangul}/gu, ['ko']],
  [/\p{Script=Han}/gu, ['zh', 'yue', 'ja']],
  [/\p{Script=Cyrillic}+/gu, ['ru', 'uk']],
  [/\p{Script=Latin}+/gu, ['en', 'fr', 'de', 'es', 'it', 'pt']],
];

/** The offered tag (BCP 47) of the script with most characters, a Latin or Cyrillic word being one; else the first. */
export function languageOf(text: string, offered: readonly string[]): string {
  const [most] = languagesOfScripts
    .map(([signs, languages]) => ({ count: text.match(signs)?.length ?? 0, languages }))
    .toSorted((left, right) => right.count - left.count);
  const fitting =
    most === undefined || most.count === 0
      ? undefined
      : offered.find((tag) => most.languages.includes(tag.split('-')[0] ?? tag));
  return fitting ?? offered[0] ?? 'en';
}

/** Topics that say little: a line that shares only these with the message does not answer it. */
export const weakTopics: ReadonlySet<string> = new Set(
  topicTerms(
    'favourite best worst meet love like enjoy fear hate look wear carry nice live people person time year way real old new big long short first last great bad place name help learn call kind buy three two watch prefer often most many time biggest greatest 喜欢 爱 觉得 认识 现在 时候 平时 最近 故事 个 大 小 老',
  ),
);

/** Parts of a message that are read, the last ones. */
const mostParts = 16;

/** A sentence or clause of a message, in lower case, without fillers and marks. */
export interface Part {
  readonly text: string;
  readonly isAsked: boolean;
}

/** Sentences and clauses in lower case, without fillers and punctuation. */
export function partsOf(userMessage: string): Part[] {
  const parts = userMessage.match(/[^.!?;,。！？；，…]+[.!?;,。！？；，…]*/gu) ?? [];
  return parts.slice(-mostParts).flatMap((part) => {
    const text = part
      .toLowerCase()
      .replaceAll(/[’‘`]/g, "'")
      .replaceAll('您', '你')
      .replaceAll(/[^\p{L}\p{N}' ]+/gu, ' ')
      .replaceAll(/\b(?:u+m+|u+h+|e+r+m*|h+m+)\b/g, ' ')
      .replaceAll(/ +/g, ' ')
      .trim();
    return text === '' || interjection.test(text) ? [] : [{ text, isAsked: isQuestion(part, text) }];
  });
}

/** Words that accompany a message and have no meaning alone. */
const interjection =
  /^(?:(?:oh|ah|aw+|well|so|hm+|you know|i mean|to be honest|by the way|anyway|you see|and|but|唉|啊|哦|嗯嗯|说实话|对了) ?)+$/u;
/** Not "Didn't mean to pry", which leaves out "I". */
const asks =
  /^(?!(?:did not|didn't) (?:mean|want|know|think|reali[sz]e|expect|sleep|even)\b)(?:and |but |so |then |well |ok |okay |oh |please )*(?:who|whom|whose|what|when|where|why|how|which|is|are|am|was|were|do|does|did|have you|has|had|can|could|will|would|should|shall|may|might|must|tell me|tell us|show me|explain|describe|give me|let us|let's|sing|play|talk|speak|say)(?:'s|'re|'d|n't)?\b/u;
const asksChinese =
  /[吗呢么不没]$|(\p{Script=Han})不\1|啥|谁|(?<!没|没有)什么|怎么|为什么|为啥|哪|几[岁个点]|多[大少久远高重快]|是不是|有没有|会不会|能不能|可不可以|好不好|讲讲|说说|给我讲|告诉我/u;

/** True for a question or a request to say something. */
export function isAskedIn(text: string): boolean {
  return partsOf(text).some(({ isAsked }) => isAsked);
}

function isQuestion(part: string, text: string): boolean {
  return /[?？]/u.test(part) || asks.test(text) || asksChinese.test(text);
}
