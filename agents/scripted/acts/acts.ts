import { recognizeAct, type Act } from './act-network.ts';
import { isAskedIn, partsOf, type Part } from '../../retrieval/words.ts';
import { arithmeticIn } from './arithmetic.ts';
import { chineseForms } from './forms-chinese.ts';
import { englishForms, type Form } from './forms.ts';

/** Acts that end or interrupt the talk: they count at any position in the message. */
const closing: ReadonlySet<Act> = new Set(['stop', 'goodbye', 'good-night']);
const calculates =
  /\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|\p{L}+teen|\p{L}+ty|hundred|dozen)\b|[一二两三四五六七八九十百千]/iu;
/** Acts that accompany others: "Thanks, and who are you?" */
const light: ReadonlySet<Act> = new Set(['greeting', 'meeting', 'thanks', 'yes', 'no']);
/** Acts that yield to a question or a feeling in the same message. */
const middling: ReadonlySet<Act> = new Set<Act>([
  ...(['statement', 'laugh', 'dismissed', 'back', 'sorry', 'interest', 'pity', 'praise', 'disbelief'] as const),
  ...(['why', 'more', 'agree', 'disagree', 'confused', 'help'] as const),
]);
/** Longer parts of a message are read as a question or a statement only, so that no pattern sees a long text. */
const longestPart = 160;

/** A user message as understood: its act, and messages of the same meaning by which a pack's line for it is found. */
export interface HeardAct {
  readonly act: Act;
  readonly asks: readonly string[];
  /** True if the network recognized it, and no form: a line of its own goes first. */
  readonly isLearned?: boolean;
}

/** Reads the acts of a message, the weightiest first; of equal ones the last comes first. */
export function actsOf(userMessage: string, language: string): readonly HeardAct[] {
  const forms = language.startsWith('zh') ? chineseForms : englishForms;
  if (isAboutOneself(userMessage)) return [{ act: 'own-fact', asks: [] }];
  if (calculates.test(userMessage) && arithmeticIn(userMessage) !== undefined) return [{ act: 'arithmetic', asks: [] }];
  const heard = partsOf(userMessage.replace(beforeBut, ''))
    .map((part) => actOfPart(part, forms))
    .toReversed()
    .toSorted((left, right) => weightOf(right.act) - weightOf(left.act));
  const preferred = preferredOf(heard);
  if (preferred !== undefined) return preferred;
  const [first] = heard;
  const isFirst = first === undefined || first.isLearned === true || weightOf(first.act) < 2 || mild.has(first.act);
  if (nameIn(userMessage) === undefined) return heard;
  const introduction: HeardAct = { act: 'introduction', asks: introductions(language) };
  return isFirst ? [introduction, ...heard] : [...heard, introduction];
}

/** Feelings that an introduction goes before: "I'm Anna, and I can't sleep." */
const mild: ReadonlySet<Act> = new Set(['tired', 'bored']);

/** The acts in another order than by weight, where several together mean so. */
function preferredOf(heard: readonly HeardAct[]): readonly HeardAct[] | undefined {
  const [first] = heard;
  if (first === undefined) return undefined;
  const thanks = heard.find(({ act }) => act === 'thanks');
  // "Cool, thanks for telling me."
  if (thanks !== undefined && ['interest', 'praise', 'happy', 'dismissed'].includes(first.act))
    return [thanks, ...heard];
  // "Stop, let's talk about something else."
  const changed = first.act === 'stop' ? heard.find(({ act }) => act === 'change') : undefined;
  if (changed !== undefined) return [changed, ...heard];
  // "I have to go, my boss is coming."
  const leaving = first.act === 'stop' && first.isLearned === true && heard.find(({ act }) => act === 'goodbye');
  if (leaving) return [leaving, ...heard];
  // "Wait, tell me about the tea party."
  const isBeside = first.act === 'stop' || (first.isLearned === true && closing.has(first.act));
  const asked = isBeside ? heard.find(({ act }) => act === 'question') : undefined;
  return asked === undefined ? undefined : [asked];
}

/** "It's a long day, but the kids make me laugh": what follows "but" counts. */
const beforeBut = /^[^.!?。！？]*,\s*but\s+(?=\S+ \S+ \S)|^[^。！？]*[，,](?:但是|可是|不过)/iu;

function weightOf(act: Act): number {
  if (closing.has(act)) return 3;
  // An address beside something else: "Thank you, your Majesty."
  if (act === 'greeting') return -1;
  if (light.has(act)) return 0;
  return middling.has(act) ? 1 : 2;
}

function introductions(language: string): readonly string[] {
  return language.startsWith('zh') ? ['很高兴认识你', '你好'] : ['Nice to meet you', 'Pleased to meet you'];
}

/** Least probability at which the network decides the act of a statement, and of a question. */
const leastSure = 0.8;
const leastSureOfQuestion = 0.85;
/** Acts that a question may perform; the others are recognized in statements only. */
const asking: ReadonlySet<Act> = new Set([
  'own-fact',
  'wellbeing',
  'doing',
  'advice',
  'hearing',
  'more',
  'confused',
  'asks-leave',
  'help',
  'manner',
  'change',
  'stop',
  'back',
]);
/** Acts that no question performs. */
const answers: ReadonlySet<Act> = new Set(['yes', 'no', 'agree']);
/** Acts that only a question performs. */
const onlyAsked: ReadonlySet<Act> = new Set(['own-fact', 'wellbeing', 'doing', 'who', 'where', 'when', 'hearing']);
/** Acts of a question about the user: it says "I". */
const ofUser: ReadonlySet<Act> = new Set(['own-fact', 'advice']);
const firstPerson = /\b(?:i|i'm|i've|my|mine|me|we|our)\b|我/u;

/** "He said I was rude": what others said is no act of the user. */
const reported =
  /^(?:and |but )?(?:he|she|they|people|somebody|someone|everybody|my \p{L}+(?: \p{L}+)?) (?:just |always |once )?(?:said|says|told|tells|thinks|thought|calls|called|asked)\b|^(?:他|她|他们|我\p{Script=Han}{1,3})(?:说|觉得|认为)/u;

/** The act of a sentence or clause: by its form if it has a sure one, else by the network. */
function actOfPart({ text, isAsked }: Part, forms: readonly Form[]): HeardAct {
  const plain = text.replace(/^(?:hello|hi|hey)(?: there)? (?=\p{L}+(?:'s)? )/u, '');
  const rest: HeardAct = { act: isAsked ? 'question' : 'statement', asks: [] };
  if (text.length > longestPart || reported.test(text)) return rest;
  const form = forms.find(({ pattern }) => pattern.test(plain) || pattern.test(text));
  if (form !== undefined && !(isAsked && isMisread(form.act, text))) return form;
  const { act, probability } = recognizeAct(text, isAsked);
  const isSure = probability >= (isAsked ? leastSureOfQuestion : leastSure);
  if (!isSure || !isPossible(act, text, isAsked) || !isWorded(act, text)) return rest;
  return { act, asks: forms.find((each) => each.act === act)?.asks ?? [], isLearned: true };
}

/** Feelings and states of the user. */
const ofOneself: ReadonlySet<Act> = new Set(['angry', 'sad', 'tired', 'afraid', 'ill', 'bored', 'happy', 'lonely']);

/** True for a question with the words of another act: "You sank ships, right?", "Bad day?", "That's it?" */
function isMisread(act: Act, text: string): boolean {
  if (act === 'advice') return /^你.*的时候/u.test(text);
  // "Does he thank you?"
  if (act === 'thanks') return /^(?:do|does|did|will|would|has|have|who|how|what|why)\b/u.test(text);
  return answers.has(act) || (!firstPerson.test(text) && (ofOneself.has(act) || /^that(?:'s| is)\b/u.test(text)));
}

/** True for acts that a sentence of this kind can perform: a question about the user says "I", another topic is named. */
function isPossible(act: Act, text: string, isAsked: boolean): boolean {
  if (act === 'change') return anotherTopic.test(text);
  if (!isAsked) return !onlyAsked.has(act) && act !== 'statement' && act !== 'question';
  return asking.has(act) && (!ofUser.has(act) || (firstPerson.test(text) && !dare.test(text)));
}

/** "Can you guess what I do?" asks for no fact that was told. */
const dare = /\b(?:guess|deduce)\b|\bcan you tell (?!me)/iu;
const anotherTopic = /\b(?:else|another|different|change|instead)\b|别的|换/u;

/** Words without which the network is not believed. */
const wordsOfAct: Partial<Record<Act, RegExp>> = {
  worry:
    /\b(?:sick|ill|hospital|hurts?|cough|fever|cancer|surgery|operation|pain|worried|accident|missing|come home|dying|(?:un|not )well|stroke|heart)\b|病|医院|疼|痛|伤|烧/u,
  tired:
    /\b(?:tired|tiring|exhaust\p{L}*|sle[ep]p\p{L}*|slept|weary|worn|drained|knackered|awake|rest|yawn\p{L}*|shattered|energy|bed|nap|insomnia|burn\p{L}* out)\b|累|困|睡|乏|疲|歇/u,
  interest: /^(?!.*\b(?:boring|dull|dumb|silly|stupid|awful|lame|terrible|harsh|cruel|cold|rough)\b)/u,
  wellbeing: /\byou\b|\bday\b|going|things|everything|life|你|好吗|怎么样/u,
};
const advises = /\byou (?:should|must|could|can|need|ought|have to|might)\b/u;

/** True unless the words show that the network is wrong: an insult says "you", not "I"; an answer is short. */
function isWorded(act: Act, text: string): boolean {
  if (act === 'insult' || act === 'rude')
    return !advises.test(text) && (/\byou|你/u.test(text) || !firstPerson.test(text));
  const words = wordsOfAct[act];
  if (words !== undefined) return words.test(text);
  return (act !== 'yes' && act !== 'no') || text.length < 12;
}

const ownFact =
  /\b(?:what(?:'s|’s| is| was| are)|do you (?:still )?(?:know|remember|recall)|(?:can|did) you (?:remember|catch)|tell me|where(?:'s|’s| is| does)|who(?:'s|’s| is)|how old is|what does)\b[^.!?]{0,30}\bmy (?!dear|friend|lord|lady|queen|captain|time|world|age of)\p{L}+|\b(?:who (?:am i|i am)|what (?:am i|i am) called)\s*[?.!]*\s*$|我(?:的名字)?(?:叫|姓)(?:什么|啥)|我是谁|我的.{1,6}(?:叫什么|是什么|是谁|几岁|在哪)|我(?:是)?(?:做|干)什么(?:工作|的)|记得我|我(?!们|该|要|能|可以|应该|说|问|怎|想|听|看|们)[^。！？，为]{0,8}(?:(?<!为)什么(?:名字|乐器|专业|工作)|哪[里儿个座]|几[个岁只])/iu;
/** "Which instrument do I play?", "Do you know where I live?"; no plea for advice, and no question for the place here. */
const askedOfSelf =
  /\b(?:what|which|whom|where|when|how (?:many|much|old|long|often|tall))\b[^.!?]{0,40}\b(?:do|did|am|was|have|had) i\b(?!\s*[?.!]*$)(?! (?:talking|speaking|doing|saying|supposed|to|hearing|looking|missing|do(?! for)|get|go|need|have to|call|find|become|learn|start|begin|stop|tell(?! you)|owe|look|sound|win|pay|sit|put|know|use(?! to)|make|keep|write|reach|address|become|begin|deserve|bring))|\b(?:know|remember|recall|tell me|guess)\b[^.!?]{0,15}\b(?:what|which|who|where|when|how (?:many|old|long|tall))\b[^.!?]{0,20}\bi (?:do|did|am|was|sell|make|drive|teach|live|work|come|came|study|play|have|had|said|told|like|love)\b|\b(?:how old am i|where am i from|what do i like|what did i (?:just )?(?:say|tell you))\b(?! (?:now|next|then|if|about))/iu;

/** True for a question about the user: "What is my name?" */
function isAboutOneself(userMessage: string): boolean {
  return (
    userMessage.length <= 4 * longestPart &&
    (ownFact.test(userMessage) || askedOfSelf.test(userMessage)) &&
    !/\bmy (?:opinion|question|problem|chances)/iu.test(userMessage) &&
    !dare.test(userMessage)
  );
}

const neverNames = new Set(
  'german french english british american chinese japanese spanish italian dutch polish russian indian swedish irish scottish welsh canadian australian mexican korean greek turkish austrian swiss danish norwegian finnish african european asian christian catholic jewish muslim buddhist sorry fine ok okay not just so very here from in at glad happy sad tired going the a an your about back later again when if tomorrow tonight'.split(
    ' ',
  ),
);
const nameForms: readonly RegExp[] = [
  /\b(?:[Ii]['’]m|[Ii] am|[Tt]his is|[Ii]t['’]s|[Nn]ame is|[Cc]all me)\s+((?:Professor|Prof|Doctor|Dr|Mr|Mrs|Miss|Captain|Father|Sister|Grandma|Grandpa|Aunt|Uncle|Sir|Lady) \p{Lu}[\p{L}'’-]{0,30})/u,
  /\b(?:my name is|my name['’]s|call me|i am called|i['’]m called|people call me|they call me)\s+(\p{L}[\p{L}'’-]{0,30})/iu,
  /\b(?:[Ii]['’]m|[Ii] am|[Tt]his is|[Ii]t['’]s)\s+(\p{Lu}[\p{L}'’-]{0,30})(?: \p{Lu}[\p{L}'’-]{1,30})?(?=\s*(?:[,.!?]|$)|\s+(?:and|from|by|here)\b)/u,
  /(?:^|[,.!?] *)(\p{Lu}[\p{L}'’-]{0,30}?)['’]s (?:the|my) name\b/u,
  /\b[Nn]ame['’]s (\p{Lu}[\p{L}'’-]{0,30})/u,
  /我是[^，。]{2,8}[，,]叫([\p{Script=Han}A-Za-z]{1,4})(?=[，。,.！!\s]|$)/u,
  /(?:你|大家|你们)(?:可以|就)?(?:叫|喊)我(?!什么|的|了)([\p{Script=Han}A-Za-z]{1,5}?)(?=就行|就好|就可以|吧|好了|[，。,.！!；\s]|$)/u,
  /我姓\p{Script=Han}{1,2}[，,](?:我|名)?叫(?!我)([\p{Script=Han}]{2,4}?)(?=[，。,.！!；\s]|$)/u,
  /我姓(?!什么|啥)([\p{Script=Han}]{1,2})(?=[，。,.！!；\s]|$)/u,
  /我(?:的名字)?(?:叫做|叫|名叫)(?!什么|你|他|她|我)([\p{Script=Han}·A-Za-z]{1,8}?)(?=[，。,.！!；\s]|$)/u,
  // A name before more about oneself; a word for a trade or an origin is none.
  /我是(?![一个从在来不说想很真])([\p{Script=Han}·]{2,5}?)(?<![人师生员者家士友的了])(?=[，,](?:我|来自|从|在|今年|住))/u,
];

/** Returns the name by which users introduce themselves. */
export function nameIn(userMessage: string): string | undefined {
  for (const form of nameForms) {
    const name = form.exec(userMessage)?.[1];
    if (name !== undefined && !neverNames.has(name.toLowerCase()))
      return `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  }
  return undefined;
}

const apology =
  /\b(?:apologi\p{L}*|forgive|rude|mean|unkind|unfair|late|interrupt\p{L}*|fault|joking|wrong|personal|question|upset|fight|offen[cd]\p{L}*|pry|bother|shouldn['’]t have|did(?: not|n['’]t) (?:mean|want)|hurt you)\b/iu;
const sorrow = /(?:^|[.!,]) *(?:oh,? )?(?:(?:i['’]?m|i am) )?(?:so |very |really |terribly )?sorry\b/iu;
const yourLoss =
  /\byour? .{0,30}\b(?:los[ts]|loss|died|dead|killed|suffer\p{L}*|hurt|alone|prison|exile\p{L}*|sad|through)\b/iu;

/** True for "I'm sorry" after a question, or for what befell the character: sympathy, no apology. */
export function isSympathy(userMessage: string, before: string): boolean {
  if (apology.test(userMessage)) return false;
  if (yourLoss.test(userMessage) || dismay.test(userMessage)) return true;
  return (isAskedIn(before) || isToldOf.test(before)) && sorrow.test(userMessage) && userMessage.length < 60;
}

const isToldOf = /\btell me\b/iu;
/** "Oh no. I'm sorry.": dismay at what was told. */
const dismay =
  /^\W*oh,? (?:man|no|dear|god|wow|gosh)\W+(?:i['’]?m |i am )?(?:so |very |really )?sorry\W*$|^\W*(?:i['’]m |i am )?(?:so |very )?sorry\W+(?:you were|(?:that|it) must)\b/iu;

export const whoAsks = ['Who are you?', '你是谁？'];

/** True for "Alice? Hello?", "大圣": a message of the character's name, and no more than a greeting. */
export function isCall(userMessage: string, name: string): boolean {
  const words = userMessage.toLowerCase().match(/[\p{L}']+/gu) ?? [];
  const rest = words.filter((word) => !name.toLowerCase().split(/\s+/u).includes(word));
  return (
    rest.length < words.length &&
    rest.every((word) => /^(?:hello|hi|hey|oh|mr|mister|miss|there|dear|i|presume|is|it|are|you|that)$/u.test(word))
  );
}

/** True for "Are you really Alice?", "Is this Mr Holmes?". */
export function asksForName(userMessage: string, name: string): boolean {
  const asked =
    /(?:^|[.!] *)(?:is (?:it|that) |mr |mister |miss )*()([\p{L}'’ ]+?), is (?:it|that|this)\?$/iu.exec(userMessage) ??
    /(?:^|[,.!?] *)(?:hello |hi |so )?(?:are you|is (?:this|that)|am i (?:talking|speaking) (?:to|with)) (?:really |the |real |mr |mister |queen |king |captain |president |general )*([\p{L}'’ ]+?)(?: here| speaking)?\?|(?:你(?:就)?|^|[，,！!]|请问)是(?:不是)?(?:那个)?([\p{Script=Han}]{2,4}?)[吗么不]?[？?]/iu.exec(
      userMessage,
    );
  const called = (asked?.[1] ?? asked?.[2] ?? '').toLowerCase();
  return called.length > 1 && name.toLowerCase().includes(called) && called !== 'i';
}

/** A greeting answers "Hello, may I come in?". */
const entering = /\b(?:may|can|could) i (?:come|join|sit|enter)\b/iu;
/** Acts beside a question that are no answer to it. */
const courtesies: ReadonlySet<Act> = new Set([
  'greeting',
  'yes',
  'no',
  'more',
  'interest',
  'agree',
  'sorry',
  'dismissed',
  'laugh',
  'statement',
]);

/** True for an act beside a question that does not answer it. */
export function isCourtesy(act: Act, userMessage: string): boolean {
  return courtesies.has(act) && !entering.test(userMessage);
}

export function lastQuestionOf(text: string): string {
  return (text.match(/[^.!?。！？]+[.!?。！？]*/gu) ?? []).findLast((part) => isAskedIn(part))?.trim() ?? text;
}

/** Acts whose words also occur in triggers of other acts. */
export const wordy: ReadonlySet<Act> = new Set([
  'yes',
  'no',
  'confused',
  'hearing',
  'doing',
  'praise',
  'advice',
  'agree',
  'dismissed',
  'laugh',
  'back',
  'manner',
  'luck',
  'offer',
  'asks-leave',
]);
