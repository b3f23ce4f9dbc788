import type { DialoguePair } from '../../characters/card.ts';
import type { Character } from '../../characters/character.ts';
import type { CharacterAgent, ReplyPart } from '../agent.ts';
import type { Message } from '../chat.ts';
import { chooseLine, isSameLine } from './choice.ts';
import { languageOf } from '../language.ts';
import { indexLines, type FindLines, type LineHit } from './line-index.ts';
import { performanceScript } from '../output/performance.ts';
import { isFrame, searchTerms } from './words.ts';

/** Least fit of a line to be spoken. Measured on all packs; see the README. */
const leastFit = 0.46;
/** A reply is not repeated within this many replies. */
const restReplies = 8;
/** Base factor on the fit of the last part of a message, and of earlier parts; longer parts count more. */
const lastPartShare = 0.7;
const earlierPartShare = 0.45;
/** Factor for a greeting before something else, or trailing words after it: answered only if nothing else matches. */
const besideShare = 0.47;
const trailing =
  /^\s*(?:i (?:do not|don['’]t) know(?: why| what| how)?|you know(?: that)?|i (?:think|guess|suppose)|和?不知道为(?:什么|啥))\s*$/iu;
const greeting =
  /^\s*(?:(?:hello|hi|hey|good (?:day|morning|afternoon|evening))\b(?:\s+[\p{L}'’.]+){0,3}|你好|您好|嗨|喂)\s*$/iu;
/** Factor on the fit of a message of several parts, taken as a whole. */
const wholeShare = 0.85;
/** Factor on the fit of the previous message, used if the last one has no topic. */
const echoShare = 0.75;

/**
 * Answers with the character's own lines: no model, no network, deterministic. Uses one of the card's evasions if no
 * line fits the last user message, or if the user has been silent for long. Calls no tools.
 */
export function retrievalAgent(character: Character): CharacterAgent {
  const ofLanguage = Map.groupBy(character.lines, (pair) => pair.language ?? character.languages[0] ?? 'en');
  const finders = new Map([...ofLanguage].map(([language, pairs]) => [language, indexLines(pairs, character.name)]));
  const languages = finders.size > 0 ? [...finders.keys()] : character.languages;

  return {
    character,
    async *reply(talk, { signal, situation, circumstance }) {
      signal.throwIfAborted();
      yield { type: 'reply-source', name: 'retrieval' };
      if (circumstance?.line !== undefined) {
        yield* performed(circumstance.line);
        return;
      }
      const history = circumstance === undefined ? talk : talk.map(withoutSpeaker);
      const userMessage = history.findLast((message) => message.role === 'user')?.text ?? '';
      const language = languageOf(userMessage, languages);
      const find = finders.get(language);
      const again = situation === 'idle' ? undefined : saidAgain(character, history);
      const line = find === undefined || situation === 'idle' ? undefined : (again ?? bestLine(find, history));
      const text = line?.reply ?? evasion(character, history, language);
      yield { type: 'text-delta', text, ...(line?.emotion === undefined ? {} : { emotion: line.emotion }) };
      yield { type: 'usage', inputTokens: 0, outputTokens: 0, cutShort: false };
    },
  };
}

/** Removes the speaker's name, which stands before the messages of others in a scene. */
function withoutSpeaker(message: Message): Message {
  return message.role === 'user' ? { ...message, text: message.text.replace(/^[^:\n]{1,80}: /u, '') } : message;
}

/** Performs a line of a scene's script. */
function* performed(line: string): Generator<ReplyPart> {
  const script = performanceScript('marked');
  for (const part of [...script.add(line), ...script.rest()])
    yield part.type === 'cue' ? part : { ...part, type: 'text-delta' };
  yield { type: 'usage', inputTokens: 0, outputTokens: 0, cutShort: false };
}

/** Picks an evasion, in the given language if the card has one, that was not used before in this conversation. */
export function evasion(character: Character, history: readonly Message[], language: string): string {
  const inLanguage = character.evasions.filter((line) => languageOf(line, character.languages) === language);
  return chooseLine(inLanguage.length > 0 ? inLanguage : character.evasions, history);
}

const asksAgain =
  /^\W*(?:sorry\W+)?(?:(?:can|could|would) you )?(?:please )?(?:say (?:that|it) again|repeat (?:that|it)|come again|pardon(?: me)?|what did you (?:just )?say|i (?:did not|didn['’]t|could not|couldn['’]t) (?:hear|catch) (?:you|that|it|what you said))\W*(?:please|sorry)?\W*$|^\W*(?:你?再说一[遍次]|(?:我)?没听清|你刚?才?说什么|说什么)[\p{P}\s啊呀吗]*$/iu;

/** Returns the line said last if the user asks to repeat it. */
function saidAgain({ lines }: Character, history: readonly Message[]): DialoguePair | undefined {
  const last = history.findLast(({ role }) => role === 'assistant')?.text;
  if (last === undefined || !asksAgain.test(history.findLast(({ role }) => role === 'user')?.text ?? ''))
    return undefined;
  return lines.find(({ reply }) => isSameLine(last, reply));
}

function bestLine(find: FindLines, history: readonly Message[]): DialoguePair | undefined {
  const [userMessage = '', before = ''] = history
    .filter((message) => message.role === 'user')
    .map((message) => message.text)
    .toReversed();
  const justSaid = history
    .filter((message) => message.role === 'assistant')
    .slice(-restReplies)
    .map((message) => message.text);
  const isFresh = (hit: LineHit): boolean => !justSaid.some((text) => isSameLine(text, hit.pair.reply));
  const direct = hitsOf(find, userMessage).find(isFresh);
  if (direct !== undefined && direct.fit >= leastFit) return direct.pair;
  if (searchTerms(userMessage).some((term) => !isFrame(term))) return undefined;
  const echoed = find(`${before} ${userMessage}`).find(isFresh);
  return echoed !== undefined && echoed.fit * echoShare >= leastFit ? echoed.pair : undefined;
}

/** Lines that fit the whole message, or one of its parts; later and longer parts count more. */
function hitsOf(find: FindLines, userMessage: string): LineHit[] {
  const parts = partsOf(userMessage);
  const whole = find(userMessage);
  if (parts.length < 2) return [...whole];
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const ofParts = parts.flatMap((part, index) => {
    const isBeside = (index < parts.length - 1 && greeting.test(part)) || trailing.test(part);
    if (isBeside) return scaled(find(part), besideShare);
    const base = index === parts.length - 1 ? lastPartShare : earlierPartShare;
    return scaled(find(part), base + (1 - base) * (part.length / length));
  });
  return [...scaled(whole, wholeShare), ...ofParts].toSorted((left, right) => right.fit - left.fit);
}

/**
 * Splits into sentences and clauses; a last clause of one or two words is an address ("..., my queen") and stays
 * attached.
 */
function partsOf(userMessage: string): string[] {
  const joined = userMessage.replace(/,(?=\s*[\p{L}'’]+(?:\s+[\p{L}'’]+)?[.!?\s]*$)/u, ' ');
  return joined.split(/[.!?;,。！？；，…]+/u).filter((part) => /[\p{L}\p{N}]/u.test(part));
}

function scaled(hits: readonly LineHit[], share: number): LineHit[] {
  return hits.map((hit) => ({ pair: hit.pair, fit: hit.fit * share }));
}
