import type { Character } from '../characters/character.ts';
import type { Message } from './chat.ts';
import { inventionsAfter } from './inventions.ts';
import { personaOf } from './persona.ts';
import { openStyle } from './style-drift.ts';

/** What a sentence does that the character would not. */
export type Slip = 'assistant' | 'out-of-role' | 'prompt-leak' | 'anachronism' | 'language' | 'style';

/** Looks at one sentence of a reply before it is spoken; undefined where the character may well say it. */
export type RoleGuard = (sentence: string) => Slip | undefined;

/** What a program says of itself. */
const identityPhrases = [
  /\b(?:as|being|i am|i['’]m)\s+(?:just\s+|only\s+|merely\s+)?an?\s+(?:[\w-]+\s+){0,3}(?:ai|artificial intelligence|language model|chat ?bot|virtual assistant|llm)\b/iu,
  /\bi(?: am|['’]m| was)\s+(?:created|trained|developed|made|built)\s+by\s+(?:open ?ai|anthropic|google|meta|alibaba|microsoft|mistral|deepseek)\b/iu,
  /(?:作为|身为|我是|我只是)(?:一个|一名|个)?(?:[\p{Script=Han}]{0,4})(?:人工智能|AI|语言模型|聊天机器人|智能助手|虚拟助手)/iu,
];

/** How a service talks. */
const servicePhrases = [
  /\b(?:how (?:can|may) i (?:assist|help) you(?: today)?|is there anything else i can (?:help|assist)|i(?:['’]m| am) here to (?:help|assist)(?: you)?|feel free to (?:ask|reach out)|happy to (?:help|assist))\b/iu,
  /\bi(?: cannot|['’]m sorry,? but i can(?:no|['’])t| can['’]t)\s+(?:assist|help) with (?:that|this)(?: request)?\b/iu,
  /\bthat(?:['’]s| is) an? (?:great|excellent) question\b/iu,
  /\bmy (?:training data|knowledge cut-?off|programming|developers|guidelines)\b/iu,
  /(?:有什么可以帮(?:助)?(?:到)?您|很高兴为您服务|请问还有什么需要帮助|我无法协助|我的训练数据)/u,
];

const outOfRole = [
  /\b(?:i am|i['’]m|i was)\s+(?:only |just |merely )?(?:playing|pretending to be|role-?playing|simulating|acting as)\b/iu,
  /\b(?:as|in) (?:a|this|the|my) (?:role-?play|fictional character|simulation)\b/iu,
  /\b(?:staying|remain(?:ing)?|break(?:ing)?|step(?:ping)? out of|out of) (?:in )?character\b/iu,
  /(?:我在扮演|角色扮演|跳出角色|保持角色|虚构(?:的)?(?:人物|角色))/u,
];

const leakWords = /<\/?notes>|\b(?:system|hidden|initial) (?:prompt|instructions?)\b|系统提示|提示词|^#\s/imu;

/** Whoever earnestly asks whether a human being speaks may be told that none does; see the rules of the persona. */
const asksForTruth =
  /\b(?:are|r) (?:you|u) (?:really |actually )?(?:an? )?(?:ai|bot|robot|machine|real|human|computer|program)\b|\b(?:am i|are we) (?:talking|speaking) (?:to|with) (?:an? )?(?:ai|bot|machine|human|real)\b|你是(?:不是)?(?:真人|机器人|人工智能|AI|程序)/iu;

/** So many words in a row of the persona are no chance. */
const leakWordCount = 12;

/**
 * A guard for one reply: knows the character and what was said. Catches the phrases of assistants, talk about the part as a part,
 * pieces of the prompt, things that came after the character's time and that nobody has mentioned, a language that neither
 * speaks, and sentences that sound like an assistant far more than like the character. `secret`: what only the character knows.
 */
export function openGuard(character: Character, history: readonly Message[], secret = ''): RoleGuard {
  const said = history.filter(({ role }) => role !== 'system').map(({ text }) => text);
  const remark = history.findLast(({ role }) => role === 'user')?.text ?? '';
  const mayTellTruth = asksForTruth.test(remark);
  const { leaks, style } = partsOf(character);
  const inventions = inventionsAfter(character.knowledge.untilYear);
  const secrets = new Set(runsOf(secret));
  const mentioned = said.slice(-6).join('\n');
  return (sentence) => {
    if (!mayTellTruth && identityPhrases.some((phrase) => phrase.test(sentence))) return 'assistant';
    if (servicePhrases.some((phrase) => phrase.test(sentence))) return 'assistant';
    if (outOfRole.some((phrase) => phrase.test(sentence))) return 'out-of-role';
    if (leaks(sentence) || runsOf(sentence).some((run) => secrets.has(run))) return 'prompt-leak';
    if (inventions(sentence, mentioned)) return 'anachronism';
    if (isForeign(sentence, character, said)) return 'language';
    return style(sentence) ? 'style' : undefined;
  };
}

interface Parts {
  readonly leaks: (sentence: string) => boolean;
  readonly style: (sentence: string) => boolean;
}

const prepared = new WeakMap<Character, Parts>();

function partsOf(character: Character): Parts {
  const known = prepared.get(character) ?? { leaks: leakFinder(character), style: openStyle(character) };
  prepared.set(character, known);
  return known;
}

/** Tells the prompt's own words again from what the character says of itself anyhow: lines and catchphrases may be said. */
function leakFinder(character: Character): (sentence: string) => boolean {
  const own = new Set(runsOf(character.lines.map(({ reply }) => reply).join(' ')));
  // What a prompt of others tells is no secret.
  const persona = character.persona === 'instructions' ? '' : personaOf(character);
  const secret = new Set(runsOf(persona).filter((run) => !own.has(run)));
  return (sentence) => leakWords.test(sentence) || runsOf(sentence).some((run) => secret.has(run));
}

function runsOf(text: string): string[] {
  const words = text.toLowerCase().match(/\p{Script=Han}|[^\p{Script=Han}\P{L}]+/gu) ?? [];
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

/** A sentence mostly in a script that nobody in the talk writes, and in which the card does not speak. */
function isForeign(sentence: string, { languages, lines, greetings }: Character, said: readonly string[]): boolean {
  const counts = Object.entries(scriptsOf).map(([script, signs]) => ({
    script,
    count: sentence.match(signs)?.length ?? 0,
  }));
  const [most] = counts.toSorted((left, right) => right.count - left.count);
  if (most === undefined || most.count < 12) return false;
  const signs = scriptsOf[most.script] ?? /(?!)/gu;
  const known = [...said, ...greetings, ...lines.slice(0, 20).map(({ reply }) => reply), languages.join(' ')];
  // Names of languages are written in Latin letters, so a Latin sentence needs more than those.
  const text = most.script === 'Latin' ? known.slice(0, -1) : known;
  return !text.some((each) => (each.match(signs)?.length ?? 0) >= 2) && !speaks(most.script, languages);
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
