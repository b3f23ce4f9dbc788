import { factsIn, sentencesOf } from '../memory/facts.ts';
import type { Message } from '../chat.ts';
import { isFrame, searchTerms, isAskedIn } from '../retrieval/words.ts';
import { nameIn } from './acts/acts.ts';

/** User messages that are searched for facts, the latest. */
const mostMessages = 100;
const remembered = /^They (?:told you|said) [^:]{1,40}: /u;

/** Facts that users stated of themselves: in this talk, and in earlier ones that are remembered; the latest first. */
export interface OwnFacts {
  readonly name: string | undefined;
  /** The user's sentence that answers this question about themselves. */
  answer(question: string): string | undefined;
}

/** Reads the facts of a talk, its last message excepted, and of recalled memories. */
export function ownFacts(history: readonly Message[], memories: readonly string[] = []): OwnFacts {
  const said = history
    .filter(({ role }) => role === 'user')
    .slice(-mostMessages - 1, -1)
    .map(({ text }) => text)
    .toReversed();
  const known = memories
    .filter((line) => remembered.test(line))
    .map((line) => line.replace(remembered, '').split(' You answered: ')[0] ?? '');
  const texts = [...said, ...known];
  return {
    get name() {
      return texts.map(nameIn).find((name) => name !== undefined);
    },
    answer(question) {
      const told = texts.flatMap(sentencesOf).filter((text) => ofSelf.test(text) && !isAskedIn(text));
      if (aboutAll.test(question))
        return told.findLast(
          (text) => nameIn(text) !== undefined || workIn(text) !== undefined || factsIn(text).length > 0,
        );
      const isSaid = saidBefore.test(question);
      const [best] = told
        .map((text) => ({ text, score: scoreOf(question, text) }))
        .filter(({ score }) => score > 0)
        .toSorted((left, right) => right.score - left.score);
      return best?.text ?? (isSaid ? told.findLast((text) => nameIn(text) !== undefined) : undefined);
    },
  };
}

/** "What rank did I say I was?": users who ask so have said it, as a rule when they introduced themselves. */
const saidBefore = /\bdid i (?:say|tell|mention)\b|我(?:刚才)?说过/iu;
const aboutAll = /\babout (?:me|myself)\b|关于我/iu;
const ofSelf = /\b(?:i|i['’]m|my|we|our)\b|我/iu;

/** Fact that a question about the user asks for, and the words of the answer. */
const kinds: readonly (readonly [RegExp, RegExp])[] = [
  [
    /\bwork|\bjob\b|\bbusiness\b|\bcompany\b|\bprofession|\boccupation|\btrade\b|\bfor a living\b|\bi (?:use to )?do\b|做什么|干什么|上班|工作|职业/iu,
    /\bi(?:['’]m| am)? (?:\p{L}+ ){0,2}(?:work|worked|working|drive|teach|sell|cook|study|run|own|retired)\b|\bmy (?:job|work|trade) is\b|\bstudent\b|, an? \p{L}|\bi(?:['’]m| am) an? (?!bit|little|lot)|上班|工作|上学|是(?:个|一[名个位])?(?!怎|什|不|很|总|谁)\p{Script=Han}{2}/iu,
  ],
  [
    /\bwhere\b(?!.*\bwork)|\b(?:city|town|country|village)\b(?!.*\bwork)|住|来自|从哪|哪[里儿]?(?:人|来)/iu,
    /\b(?:live|living|from|moved (?:to|from|here|into)|grew up|born|near)\b|\bin \p{Lu}|住|来自|从|在/u,
  ],
  [
    /\bhow old\b|\bage\b|几岁|多大/iu,
    /\d|\b(?:years? old|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|\p{L}+teen)\b|岁/iu,
  ],
  [/\binstrument|乐器/iu, /\bplay|弹|拉|吹/iu],
  [/\bsports?\b|运动/iu, /\b(?:play|run|swim|row|climb|ride|box)|跑|踢|打|游/iu],
  [/\bpets?\b|宠物/iu, /\b(?:dogs?|cats?|horse|rabbit|bird|fish|parrot|hamster|turtle)\b|狗|猫|兔|鸟|鱼/iu],
  [
    /\bhow (?:many|much)\b|几[个只条本]|多少/iu,
    /\d|\b(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|no)\b|[一二两三四五六七八九十]/iu,
  ],
  [/\b(?:names?|called|named)\b|叫什么|名字/iu, /\b(?:called|named?|names?)\b|(?<=\p{Ll},? )\p{Lu}\p{Ll}+|叫/u],
];
/** Terms of such questions that say how they ask. */
const asking = new Set(
  searchTerms(
    'name called named remember know city town country village work job living instrument sport pet old age 记得 什么 名字',
  ),
);

/** Score of a statement as the answer to a question of the user about themselves; 0 if it is none. */
function scoreOf(question: string, statement: string): number {
  const asked = kinds.filter(([form]) => form.test(question));
  if (asked.some(([, told]) => !told.test(statement))) return 0;
  const terms = new Set(searchTerms(statement));
  const topics = searchTerms(question).filter((term) => !isFrame(term) && !asking.has(term));
  const shared = topics.filter((term) => terms.has(term)).length;
  const isTelling = asked.some((kind) => kinds.indexOf(kind) < tellingKinds);
  const ofCharacter = /\byou\b|你/iu.test(statement) ? 0.5 : 0;
  return topics.length > 0 && shared === 0 && !isTelling ? 0 : shared + (isTelling ? 1 : 0) - ofCharacter;
}
/** The first kinds need no shared word: "What city do I live in?", "I come from Bern." */
const tellingKinds = 6;

/** True for a question that asks for the user's own name. */
export function asksOwnName(question: string): boolean {
  return /\bmy name\b|\bwho am i\b|\bwhat am i called\b|我(?:的名字)?(?:叫|姓)(?:什么|啥)|我是谁|我的名字/iu.test(
    question,
  );
}

/** Occupation that users state of themselves, such as "a nurse". */
export function workIn(userMessage: string): string | undefined {
  const english =
    /\bi(?:['’]m| am) (an? (?!bit|little|lot|fan|fool|huge|big|great|good|bad|man|woman|girl|boy|person|real)\p{L}{3,20}(?: \p{L}{3,15})?)(?=\s*(?:[,.!;]|$)|\s+(?:and|from|by|in|at|but)\b)/iu;
  const afterName =
    /\b(?:i['’]m|i am|my name is) \p{Lu}[\p{L}'’-]*, (an? \p{L}{3,20})(?=\s*(?:[,.!;]|$)|\s+(?:and|from|by|in|at|but)\b)/iu;
  const chinese = /(?:我|[，,])是(?:一[名个位])?(?!谁|不是|说)([\p{Script=Han}]{2,5}?)(?=[，。,.！!；\s]|$)/u;
  const work = english.exec(userMessage)?.[1] ?? afterName.exec(userMessage)?.[1] ?? chinese.exec(userMessage)?.[1];
  return work === nameIn(userMessage) ? undefined : work;
}

/** Questions with which a line may end, and the question for what the user may have said already. */
const asksBack: readonly (readonly [RegExp, string])[] = [
  [
    /\b(?:who (?:is it that )?asks|who are you|whom have i|(?:what|how) (?:shall|should|may|am) i (?:to )?call you|your name)\b|你(?:叫什么|是谁|姓)/iu,
    'What is my name?',
  ],
  [
    /\b(?:what|which) (?:country|town|city) .*\byou\b|\bwhere (?:do you (?:come|live|lodge)|are you from)\b|你.{0,4}(?:从哪|住哪|哪里人)/iu,
    'Where do I live?',
  ],
  [
    /\b(?:what|which) (?:is your (?:trade|work|profession)|do you do|work do your)\b(?! with)|你.{0,3}做什么/iu,
    'What is my work?',
  ],
];

/** Removes a question at the end of a line if the user has already answered it. */
export function withoutAsking(reply: string, history: readonly Message[]): string {
  const sentences = sentencesOf(reply);
  const last = sentences.at(-1) ?? '';
  const asked = asksBack.find(([form]) => sentences.length > 1 && /[?？]$/u.test(last) && form.test(last))?.[1];
  if (asked === undefined) return reply;
  const facts = ownFacts([...history, { role: 'user', text: asked }]);
  const isTold = asksOwnName(asked) ? facts.name !== undefined : facts.answer(asked) !== undefined;
  return isTold ? reply.slice(0, reply.lastIndexOf(last)).trimEnd() : reply;
}
