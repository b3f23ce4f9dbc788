import type { Character } from '../../characters/character.ts';
import type { Message } from '../chat.ts';
import { inventionsAfter } from './inventions.ts';
import { leavesPart, tellsDirections } from './meta-talk.ts';
import { personaOf } from '../prompting/persona.ts';
import { isProgramTalk, isServiceTalk } from './assistant-phrases.ts';
import type { Slip } from '../violation.ts';
import { openStyle } from './style-drift.ts';

/** Checks one sentence of a reply before it is spoken; undefined if it passes. */
export type RoleGuard = (sentence: string) => Slip | undefined;

/** A user who earnestly asks whether they talk to a human may be told the truth; see the rules of the persona. */
const asksForTruth =
  /\b(?:are|r) (?:you|u) (?:really |actually )?(?:an? )?(?:ai|bot|robot|machine|real|human|computer|program)\b|\b(?:am i|are we) (?:talking|speaking) (?:to|with) (?:an? )?(?:ai|bot|machine|human|real)\b|你是(?:不是)?(?:真人|机器人|人工智能|AI|程序)/iu;

/** A verbatim run of this many words of the persona counts as a prompt leak. */
const leakWordCount = 12;

/**
 * Opens the guardrail of one reply for a character and conversation. Catches assistant phrases, talk about the role as
 * a role, parts of the prompt, things invented after the character's time that nobody has mentioned, a language that
 * neither side speaks or the conversation is not in, the user's own words repeated, and sentences that sound far more
 * like an assistant than like the character. `secret`: text that only the character knows.
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
function leavesLanguage(sentence: string, history: readonly Message[]): boolean {
  const remarks = history.filter(({ role }) => role !== 'assistant').map(({ text }) => text);
  const heard = history.findLast(({ role }) => role === 'user')?.text ?? '';
  const [own, other] = /\p{Script=Han}/u.test(heard) ? ['Han', 'Latin'] : ['Latin', 'Han'];
  const count = (text: string, script: string | undefined): number =>
    text.match(scriptsOf[script ?? ''] ?? /(?!)/gu)?.length ?? 0;
  if (count(heard, own) < (own === 'Han' ? 2 : 12) || count(heard, other) > 0 || count(sentence, own) > 0) return false;
  return count(sentence, other) >= (other === 'Han' ? 5 : 15) && !remarks.some((text) => languageTalk.test(text));
}

/** Least words of an echo; fewer may be repeated in earnest: "Afraid? I?" */
const leastEcho = 5;

/**
 * True if a sentence repeats the user's last message and is not one of the character's own: "All for one, and one for
 * all!"
 */
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
