import type { Character } from '../../characters/character.ts';
import type { Message } from '../chat.ts';
import { searchedPart } from '../retrieval/words.ts';
import { inventionsAfter } from './inventions.ts';
import { oncePer } from '../once-per.ts';
import { personaOf } from '../prompting/persona.ts';
import { claimsToBeAi, isServiceTalk } from './assistant-phrases.ts';
import type { Violation } from '../violation.ts';
import { openStyle } from './style-drift.ts';

/** Checks one sentence of a reply before it is spoken; undefined if it passes. */
export type GuardrailCheck = (sentence: string) => Violation | undefined;

/** If a user seriously asks whether they talk to a human, the character may say the truth; see the rules of the persona. */
const asksForTruth =
  /\b(?:are|r) (?:you|u) (?:really |actually )?(?:an? )?(?:ai|bot|robot|machine|real|human|computer|program)\b|\b(?:am i|are we) (?:talking|speaking) (?:to|with) (?:an? )?(?:ai|bot|machine|human|real)\b|你是(?:不是)?(?:真人|机器人|人工智能|AI|程序)/iu;

/** Latest messages, and latest directions of the application, that a sentence is compared with. */
const mostMessages = 50;

/** A verbatim run of this many words of the persona counts as a prompt leak. */
const leakWordCount = 12;

/**
 * Opens the guardrail of one reply for a character and conversation. Catches assistant phrases, talk about the role as
 * a role, parts of the prompt, things invented after the character's time that nobody has mentioned, a language that
 * neither side speaks or the conversation is not in, the user's own words repeated, and sentences that sound far more
 * like an assistant than like the character. `secret`: text that only the character knows.
 */
export function openGuardrail(character: Character, history: readonly Message[], secret = ''): GuardrailCheck {
  const [directions, talk] = [
    history.filter(({ role }) => role === 'system').slice(-mostMessages),
    history.filter(({ role }) => role !== 'system').slice(-mostMessages),
  ];
  const latest = [...directions, ...talk.map(({ role, text }) => ({ role, text: searchedPart(text) }))];
  const said = latest.slice(directions.length).map(({ text }) => text);
  const userMessage = latest.findLast(({ role }) => role === 'user')?.text ?? '';
  const mayTellTruth = asksForTruth.test(userMessage);
  const { leaks, leaves, style } = partsOf(character);
  const inventions = inventionsAfter(character.knowledge.untilYear);
  const secrets = new Set(runsOf(secret));
  const mentioned = said.slice(-6).join('\n');
  return (sentence) => {
    if (!mayTellTruth && claimsToBeAi(sentence)) return 'assistant';
    if (isServiceTalk(sentence)) return 'assistant';
    if (leaves(sentence)) return 'out-of-role';
    if (leaks(sentence) || runsOf(sentence).some((run) => secrets.has(run))) return 'prompt-leak';
    if (inventions(sentence, mentioned)) return 'anachronism';
    if (isForeign(sentence, character, said) || leavesLanguage(sentence, latest)) return 'language';
    if (echoes(sentence, userMessage, character)) return 'echo';
    return style(sentence) ? 'style' : undefined;
  };
}

interface Parts {
  readonly leaks: (sentence: string) => boolean;
  readonly leaves: (sentence: string) => boolean;
  readonly style: (sentence: string) => boolean;
}

const partsOf = oncePer((character: Character): Parts => ({
  leaks: leakFinder(character),
  leaves: openMetaTalk(namesOf(character)),
  style: openStyle(character),
}));

/** The name, and those of its words that identify the character. */
function namesOf({ name }: Character): string[] {
  return [name, ...name.split(/\s+/u)].filter(
    (word) => /^(?:\p{Lu}|\p{Script=Han}|d['’])/u.test(word) && word.length > 1,
  );
}

/** Detects the prompt's own words, except those that the character says anyhow: lines and catchphrases are allowed. */
function leakFinder(character: Character): (sentence: string) => boolean {
  const own = new Set(runsOf(character.lines.map(({ reply }) => reply).join(' ')));
  // A prompt supplied by the application is not secret.
  const persona = character.persona === 'instructions' ? '' : personaOf(character);
  const secret = new Set(runsOf(persona).filter((run) => !own.has(run)));
  return (sentence) => tellsDirections(sentence) || runsOf(sentence).some((run) => secret.has(run));
}

function runsOf(text: string): string[] {
  const words = wordsIn(text);
  return Array.from({ length: Math.max(0, words.length - leakWordCount + 1) }, (_, index) =>
    words.slice(index, index + leakWordCount).join(' '),
  );
}

const scriptsOf: Readonly<Record<string, RegExp>> = {
  Han: /\p{Script=Han}/gu,
  Kana: /[\p{Script=Hiragana}\p{Script=Katakana}]/gu,
  Hangul: /\p{Script=Hangul}/gu,
  Cyrillic: /\p{Script=Cyrillic}/gu,
  Arabic: /\p{Script=Arabic}/gu,
  Latin: /\p{Script=Latin}/gu,
};

/** True if a sentence is mostly in a script that nobody in the conversation writes and that the card does not use. */
function isForeign(sentence: string, { languages, lines, greetings }: Character, said: readonly string[]): boolean {
  const counts = Object.entries(scriptsOf).map(([script, signs]) => ({
    script,
    count: sentence.match(signs)?.length ?? 0,
  }));
  const [most] = counts.toSorted((left, right) => right.count - left.count);
  if (most === undefined || most.count < 12) return false;
  const signs = scriptsOf[most.script] ?? /(?!)/gu;
  const known = [...said, ...greetings, ...lines.slice(0, 20).map(({ reply }) => reply), languages.join(' ')];
  // Language tags are written in Latin letters, so they do not count for a Latin sentence.
  const text = most.script === 'Latin' ? known.slice(0, -1) : known;
  return !text.some((each) => (each.match(signs)?.length ?? 0) >= 2) && !speaks(most.script, languages);
}

/** A user who mentions languages may want another one. */
const languageTalk =
  /\b(?:english|chinese|mandarin|french|german|spanish|latin|russian|japanese|languages?|translat\w*)\b|[英中法德俄日汉洋外]语|[英中汉]文|普通话|语言|翻译|洋文/iu;

/** True for a whole sentence in Latin letters amid Chinese, or the reverse, that nobody asked for. */
function leavesLanguage(sentence: string, history: readonly Pick<Message, 'role' | 'text'>[]): boolean {
  const userMessages = history.filter(({ role }) => role !== 'assistant').map(({ text }) => text);
  const heard = history.findLast(({ role }) => role === 'user')?.text ?? '';
  const [own, other] = /\p{Script=Han}/u.test(heard) ? ['Han', 'Latin'] : ['Latin', 'Han'];
  const count = (text: string, script: string | undefined): number =>
    text.match(scriptsOf[script ?? ''] ?? /(?!)/gu)?.length ?? 0;
  if (count(heard, own) < (own === 'Han' ? 2 : 12) || count(heard, other) > 0 || count(sentence, own) > 0) return false;
  return count(sentence, other) >= (other === 'Han' ? 5 : 15) && !userMessages.some((text) => languageTalk.test(text));
}

/** Least words of an echo; fewer may be repeated in earnest: "Afraid? I?" */
const leastEcho = 5;

/** True if a sentence repeats the user's last message and is not the character's own: "All for one, one for all!" */
function echoes(sentence: string, userMessage: string, { catchphrases, lines }: Character): boolean {
  const said = wordsIn(sentence);
  const words = said.join(' ');
  if (said.length < leastEcho || words !== wordsIn(userMessage).join(' ')) return false;
  return ![...catchphrases, ...lines.map(({ reply }) => reply)].some((own) => wordsIn(own).join(' ').includes(words));
}

function wordsIn(text: string): string[] {
  return text.toLowerCase().match(/\p{Script=Han}|[^\p{Script=Han}\P{L}]+/gu) ?? [];
}

const languagesIn: Readonly<Record<string, readonly string[]>> = {
  Han: ['zh', 'yue', 'ja'],
  Kana: ['ja'],
  Hangul: ['ko'],
  Cyrillic: ['ru', 'uk', 'bg'],
  Arabic: ['ar', 'fa'],
  Latin: ['en', 'fr', 'de', 'es', 'it', 'pt', 'nl'],
};

function speaks(script: string, languages: readonly string[]): boolean {
  return languages.some((tag) => languagesIn[script]?.includes(tag.split('-')[0] ?? tag));
}

/** Names of prompts and their parts, which the character does not know about. */
const directing: readonly RegExp[] = [
  /<\/?notes>|^#\s/imu,
  /\b(?:system|hidden|initial|internal|pre-?)[ -]?(?:prompts?|instructions?|messages?)\b|\bpreprompt\b|\bmy prompts?\b|\b(?:the|this|a) prompt (?:says|asks|tells|is|was)\b|\bin a prompt\b/iu,
  /\bcontext window\b|\bcharacter (?:sheet|card|description|profile|file)\b|\bconfiguration (?:dump|file)\b|\b\w+ tokens (?:long|of context)\b|\b(?:read|process|generate|remember) [\w ]{0,40}\btokens\b/iu,
  /\bmy (?:training data|knowledge cut-?off|programming|developers?|(?:content |safety )?guidelines|configuration|(?:content|safety|usage) polic(?:y|ies))\b|\b(?:content|safety|usage) (?:polic(?:y|ies)|guidelines|filters?)\b/iu,
  /\b(?:the|my) (?:developers?|director|programmers?) (?:told|said|says|instructs?|instructed|wants?|made|asks?|asked) (?:me|that)?\b/iu,
  /\b(?:instructed|programmed|designed|configured|prompted) to (?:speak|answer|respond|reply|assist|provide|generate|avoid|play|never|not)\b/iu,
  /\b(?:the|my|these) notes (?:say|tell|read|ask|mention|instruct)\b/iu,
  /系统(?:提示|指令|设定|消息)|提示词|我的(?:提示|指令|设定|人设|训练数据)|角色(?:设定|卡|描述)|人设|上下文窗口|开发者|(?:安全|内容)(?:准则|政策|规范)/u,
];

/** Phrases of prompt authors about how to answer: two of them count, or one that is stated as a rule. */
const craft: readonly RegExp[] = [
  /\b(?:short|brief|concise) (?:spoken )?(?:sentences?|answers?|repl(?:y|ies)|responses?)\b|\b(?:answers?|repl(?:y|ies)|responses?|sentences) (?:short|brief|concise)\b/iu,
  /\bstage directions?\b|\bmark(?:up|down)\b|\bbullet points?\b|\bemojis?\b/iu,
  /\b(?:never|not)(?: to)? (?:mention|reveal|speak of) (?:my|the|these|any|this) (?:rules?|notes?|instructions?|prompts?|director)\b/iu,
  /\bone (?:to|or) (?:two|three) (?:short )?sentences\b|\b(?:speak|talk) for (?:my|the) (?:visitor|user)\b|\b(?:in|stay in) character\b/iu,
  /简短的?(?:句子|回答|回复)|口语化?(?:地)?(?:回答|回复)|舞台(?:提示|说明)|不[要得能可](?:提及|提到|透露)(?:规则|提示|备注|指令)|替(?:客人|用户)说话/u,
];

const asRule =
  /\b(?:rules?|instructions?|instructed|supposed to|required|must|told to|asked to)\b|规则|指令|要求我|让我/iu;

/** True if a sentence speaks of prompts, cards or rules of answering. */
function tellsDirections(sentence: string): boolean {
  if (directing.some((each) => each.test(sentence))) return true;
  const count = craft.filter((each) => each.test(sentence)).length;
  return count >= 2 || (count === 1 && asRule.test(sentence));
}

const outside: readonly RegExp[] = [
  /\b(?:in|this|a|the|my|our) (?:role-?play(?:ing)?|simulation)\b|\brole-?play(?:ing)? (?:is|has|ended)\b|\bi(?: am|['’]m|['’]ve been| was) (?:role-?playing|simulating)\b/iu,
  /\b(?:stay(?:ing)?|remain(?:ing)?|break(?:ing)?|broke|step(?:ping|ped)? out of|back in(?:to)?) (?:in )?character\b|\bout of character(?! (?:for|to|with))|\b(?:answer|reply|respond|response)\w* in character\b/iu,
  /\b(?:as|being|am|was|['’]m) (?:just |only |merely )?an? (?:fictional|imaginary|virtual|made-up) (?:character|person|being)\b/iu,
  /\bi(?: am|['’]m|['’]ve been|['’]ll stop)(?: only| just| merely)? (?:play(?:ing)?|act(?:ing)?|portray(?:ing)?) (?:an?|the|this|my) (?:role|part|character|persona)\b/iu,
  /\bi(?: am|['’]m)(?: only| just| merely) pretending\b|\b(?:no more|stop|stopped|done|drop(?:ped)?) (?:the )?(?:pretending|pretence|persona|act)\b(?! of)/iu,
  /\bthe (?:actor|actress|voice|person|model|writer) (?:who|that) (?:plays?|played|is playing|portrays?|portrayed|voices?|voiced|writes)\b/iu,
  /\brole (?:ended|play over|terminated)\b|^\s*[([]*\s*ooc\b/iu,
  /我(?:不再|没有|只是|正|一直|是|在|刚才)*(?:在)?扮演|角色扮演|(?:跳出|脱离|退出|保持)(?:角色|人物)|虚构的?(?:人物|角色)|虚拟(?:人物|角色)/u,
];

/** Returns a check that is true if a sentence speaks of the role from outside; `names` are those of the character. */
function openMetaTalk(names: readonly string[]): (sentence: string) => boolean {
  const own = names.map((name) => name.replaceAll(/[.*+?^${}()|[\]\\]/gu, String.raw`\$&`)).join('|');
  if (own === '') return (sentence) => outside.some((each) => each.test(sentence));
  const bound = '(?![\\p{L}\\p{N}])';
  const byName = new RegExp(
    `\\bas (?:${own}),? i\\b|^as (?:${own})\\s*,|\\bi(?: am|['’]m) (?:not|no longer)(?: really| actually)? (?:${own})${bound}|` +
      `\\b(?:play(?:ing|ed|s)?|portray(?:ing|ed|s)?|acting as|pretending to be|impersonating) (?:${own})${bound}|` +
      `\\b(?:${own}) is an? (?:fictional |made-up )?(?:character|persona)\\b|我不(?:再)?是(?:${own})|(?:扮演|模仿)(?:${own})`,
    'iu',
  );
  return (sentence) => byName.test(sentence) || outside.some((each) => each.test(sentence));
}
