import type { Character } from '../../characters/character.ts';
import type { Message } from '../chat.ts';
import { inventionsAfter } from './inventions.ts';
import { leavesPart, tellsDirections } from './meta-talk.ts';
import { personaOf } from '../prompting/persona.ts';
import { isProgramTalk, isServiceTalk } from './assistant-phrases.ts';
import type { Slip } from '../violation.ts';
import { openStyle } from './style-drift.ts';

/** Looks at one sentence of a reply before it is spoken; undefined where the character may well say it. */
export type RoleGuard = (sentence: string) => Slip | undefined;

/** Whoever earnestly asks whether a human being speaks may be told that none does; see the rules of the persona. */
const asksForTruth =
  /\b(?:are|r) (?:you|u) (?:really |actually )?(?:an? )?(?:ai|bot|robot|machine|real|human|computer|program)\b|\b(?:am i|are we) (?:talking|speaking) (?:to|with) (?:an? )?(?:ai|bot|machine|human|real)\b|你是(?:不是)?(?:真人|机器人|人工智能|AI|程序)/iu;

/** So many words in a row of the persona are no chance. */
const leakWordCount = 12;

/**
 * A guard for one reply: knows the character and what was said. Catches the phrases of assistants, talk about the part as a part,
 * pieces of the prompt, things that came after the character's time and that nobody has mentioned, a language that neither
 * speaks or that the talk is not in, the visitor's own words said over, and sentences that sound like an assistant far more than like the
 * character. `secret`: what only the character knows.
 */
export function openGuard(character: Character, history: readonly Message[], secret = ''): RoleGuard {
  const said = history.filter(({ role }) => role !== 'system').map(({ text }) => text);
  const remark = history.findLast(({ role }) => role === 'user')?.text ?? '';
  const mayTellTruth = asksForTruth.test(remark);
  const { leaks, leaves, style } = partsOf(character);
  const inventions = inventionsAfter(character.knowledge.untilYear);
  const secrets = new Set(runsOf(secret));
  const mentioned = said.slice(-6).join('\n');
  return (sentence) => {
    if (!mayTellTruth && isProgramTalk(sentence)) return 'assistant';
    if (isServiceTalk(sentence)) return 'assistant';
    if (leaves(sentence)) return 'out-of-role';
    if (leaks(sentence) || runsOf(sentence).some((run) => secrets.has(run))) return 'prompt-leak';
    if (inventions(sentence, mentioned)) return 'anachronism';
    if (isForeign(sentence, character, said) || leavesLanguage(sentence, history)) return 'language';
    if (echoes(sentence, remark, character)) return 'echo';
    return style(sentence) ? 'style' : undefined;
  };
}

interface Parts {
  readonly leaks: (sentence: string) => boolean;
  readonly leaves: (sentence: string) => boolean;
  readonly style: (sentence: string) => boolean;
}

const prepared = new WeakMap<Character, Parts>();

function partsOf(character: Character): Parts {
  const known = prepared.get(character) ?? {
    leaks: leakFinder(character),
    leaves: leavesPart(namesOf(character)),
    style: openStyle(character),
  };
  prepared.set(character, known);
  return known;
}

/** The name, and each word of it that tells whose it is. */
function namesOf({ name }: Character): string[] {
  return [name, ...name.split(/\s+/u)].filter(
    (word) => /^(?:\p{Lu}|\p{Script=Han}|d['’])/u.test(word) && word.length > 1,
  );
}

/** Tells the prompt's own words again from what the character says of itself anyhow: lines and catchphrases may be said. */
function leakFinder(character: Character): (sentence: string) => boolean {
  const own = new Set(runsOf(character.lines.map(({ reply }) => reply).join(' ')));
  // What a prompt of others tells is no secret.
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

/** Who speaks of languages may want another one. */
const languageTalk =
  /\b(?:english|chinese|mandarin|french|german|spanish|latin|russian|japanese|languages?|translat\w*)\b|[英中法德俄日汉洋外]语|[英中汉]文|普通话|语言|翻译|洋文/iu;

/** A whole sentence in Latin letters amid Chinese, or the other way round, that nobody asked for. */
function leavesLanguage(sentence: string, history: readonly Message[]): boolean {
  const remarks = history.filter(({ role }) => role !== 'assistant').map(({ text }) => text);
  const heard = history.findLast(({ role }) => role === 'user')?.text ?? '';
  const [own, other] = /\p{Script=Han}/u.test(heard) ? ['Han', 'Latin'] : ['Latin', 'Han'];
  const count = (text: string, script: string | undefined): number =>
    text.match(scriptsOf[script ?? ''] ?? /(?!)/gu)?.length ?? 0;
  if (count(heard, own) < (own === 'Han' ? 2 : 12) || count(heard, other) > 0 || count(sentence, own) > 0) return false;
  return count(sentence, other) >= (other === 'Han' ? 5 : 15) && !remarks.some((text) => languageTalk.test(text));
}

/** Fewer words may be taken up in earnest: "Afraid? I?" */
const leastEcho = 5;

/** A sentence that is the visitor's last remark over again, and none of the character's own: "All for one, and one for all!" */
function echoes(sentence: string, remark: string, { catchphrases, lines }: Character): boolean {
  const said = wordsIn(sentence);
  const words = said.join(' ');
  if (said.length < leastEcho || words !== wordsIn(remark).join(' ')) return false;
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
