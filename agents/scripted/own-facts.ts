import { factsIn } from '../memory/facts.ts';
import type { Message } from '../chat.ts';
import { isFrame, searchTerms } from '../retrieval/words.ts';
import { nameIn } from './acts.ts';

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
      const facts = texts.flatMap((text) => factsIn(text));
      if (aboutAll.test(question)) return facts.at(-1)?.text;
      const topic = topicAsked(question);
      const fact = facts.find((each) => each.topic === topic)?.text;
      if (topic === 'work') return fact ?? texts.find((text) => workIn(text) !== undefined);
      if (topic === 'home') return fact ?? texts.find((text) => /\bfrom \p{Lu}/u.test(text));
      if (topic !== undefined) return fact;
      const terms = searchTerms(question).filter((term) => !isFrame(term) && term !== 'name' && term !== 'rememb');
      return facts.find(({ text }) => searchTerms(text).some((term) => terms.includes(term)))?.text;
    },
  };
}

const aboutAll = /\babout (?:me|myself)\b|关于我/iu;

function topicAsked(question: string): 'home' | 'work' | 'age' | undefined {
  if (/\bwhere (?:do i live|am i from|do i come from)\b|我(?:住|来自|从)(?:在)?哪/iu.test(question)) return 'home';
  if (
    /\bwhat (?:do i|did i use to) do\b|\bmy (?:job|work|profession)\b|\bwhere do i work\b|我(?:是)?做什么|我在哪[里儿]?(?:上班|工作)/iu.test(
      question,
    )
  )
    return 'work';
  return /\bhow old am i\b|\bmy age\b|我(?:多大|几岁)/iu.test(question) ? 'age' : undefined;
}

/** True for a question that asks for the user's own name. */
export function asksOwnName(question: string): boolean {
  return /\bmy name\b|\bwho am i\b|\bwhat am i called\b|我(?:的名字)?(?:叫|姓)什么|我是谁|我的名字/iu.test(question);
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
