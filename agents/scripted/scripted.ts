import { isOfWorld, type DialoguePair } from '../../characters/card.ts';
import type { Character } from '../../characters/character.ts';
import type { CharacterAgent, ReplyPart } from '../agent.ts';
import type { Message } from '../chat.ts';
import type { Surroundings } from '../surroundings.ts';
import { languageOf, searchedPart } from '../retrieval/words.ts';
import { performanceScript } from '../output/performance.ts';
import { isSameLine } from '../retrieval/choice.ts';
import { indexLines, type FindLines } from '../retrieval/line-index.ts';
import { evasion } from './moves.ts';
import { linesOf } from './own-lines.ts';
import { replyTo } from './replies.ts';
import { stockLines } from './stock-lines.ts';
import { worldLine } from './world-lines.ts';

/**
 * Answers with the character's own lines: no model, no network, deterministic. The act of the user message decides
 * first, then the line that fits it; a message that no line fits is evaded, and never twice in a row. A card with few
 * lines uses what it says about the character. Calls no tools.
 */
export function scriptedAgent(character: Character): CharacterAgent {
  const ofLanguage = Map.groupBy(
    linesOf(character).filter((pair) => !isOfWorld(pair)),
    (pair) => pair.language ?? character.languages[0] ?? 'en',
  );
  const finders = new Map([...ofLanguage].map(([language, pairs]) => [language, indexLines(pairs, character.name)]));
  const languages = finders.size > 0 ? [...finders.keys()] : character.languages;
  const stocks = new Map(languages.map((language) => [language, stockLines(language)]));

  return {
    character,
    async *reply(talk, { signal, situation, circumstance, memories, surroundings }) {
      signal.throwIfAborted();
      yield { type: 'reply-source', name: 'retrieval' };
      if (circumstance?.line !== undefined) {
        yield* performed(circumstance.line);
        return;
      }
      const heard = talk.map((message) => ({ ...message, text: searchedPart(message.text) }));
      const isNamed = (message: Message): boolean =>
        circumstance !== undefined || (message.role === 'user' && message.by !== undefined);
      const history = heard.map((message) => (isNamed(message) ? withoutSpeaker(message) : message));
      const userMessage = history.findLast((message) => message.role === 'user')?.text ?? '';
      const language = languageOf(userMessage, languages);
      const lines = ofLanguage.get(language) ?? [];
      const find = finders.get(language) ?? nothing;
      const again = saidAgain(lines, history);
      const around = surroundings?.(character.id);
      const ofWorld = around && worldLine({ character, history, userMessage, around });
      if (around?.reacts !== undefined && ofWorld === undefined) {
        yield { type: 'usage', inputTokens: 0, outputTokens: 0, cutShort: false };
        return;
      }
      const stock = stocks.get(language) ?? stockLines(language);
      const mind = { character, lines, find, history, language, stock, userMessage, memories };
      const line =
        ofWorld ??
        (situation === 'idle' || userMessage === ''
          ? { reply: evasion(character, history, language) }
          : (again ?? replyTo({ ...mind, userMessage: plainMessage(userMessage) })));
      if (around !== undefined) {
        yield* performed(line.reply, line.emotion, around.isAction);
        return;
      }
      yield { type: 'text-delta', text: line.reply, ...(line.emotion === undefined ? {} : { emotion: line.emotion }) };
      yield { type: 'usage', inputTokens: 0, outputTokens: 0, cutShort: false };
    },
  };
}

const nothing: FindLines = () => [];

/** Removes the speaker's name, which precedes the messages of others in a scene. */
function withoutSpeaker(message: Message): Message {
  return message.role === 'user' ? { ...message, text: message.text.replace(/^[^:\n]{1,80}: /u, '') } : message;
}

/** Performs a line of a scene's script, or one with actions of a game. */
function* performed(
  line: string,
  emotion?: DialoguePair['emotion'],
  isAction?: Surroundings['isAction'],
): Generator<ReplyPart> {
  const script = performanceScript(isAction === undefined ? 'marked' : 'spoken', isAction);
  const felt = emotion === undefined ? {} : { emotion };
  for (const part of [...script.add(line), ...script.rest()])
    yield part.type === 'cue' ? part : { ...felt, ...part, type: 'text-delta' };
  yield { type: 'usage', inputTokens: 0, outputTokens: 0, cutShort: false };
}

const asksAgain =
  /^\W*(?:(?:sorry|wait|slow down|hang on|hold on)\W+)*(?:(?:can|could|would) you )?(?:please )?(?:say (?:that|it) (?:again(?: but \p{L}+)?|(?:more )?slowly|louder)|repeat (?:that|it)|come again|pardon(?: me)?|what(?: was that)?|(?:[^.?!]{0,40}[,.] )?what (?:did|were) you (?:just )?say(?:ing)?|i (?:did not|didn['’]t|could not|couldn['’]t) (?:hear|catch) (?:you|that|it|what you said))\W*(?:please|sorry)?\W*$|^[\p{P}\s]*(?:你?再说一[遍次]|(?:我)?没听清|(?:你刚才|刚才你|你)?(?:刚)?说(?:了)?(?:什么|啥)(?:来着)?)[\p{P}\s啊呀吗]*$/iu;

/** Returns the line said last if the user asks to repeat it. */
function saidAgain(lines: readonly DialoguePair[], history: readonly Message[]): DialoguePair | undefined {
  const last = history.findLast(({ role }) => role === 'assistant')?.text;
  if (last === undefined || !asksAgain.test(history.findLast(({ role }) => role === 'user')?.text ?? ''))
    return undefined;
  return lines.find(({ reply }) => isSameLine(last, reply)) ?? { asks: [], reply: last };
}

/** Titles whose full stop ends no sentence. */
const titles = /\b(mr|mrs|ms|dr|st|prof)\./giu;

/** An address behind a question: "…, Mr President?" */
const address =
  /, *(?:mr|mrs|ms|dr|mister|sir|madam|captain|general|your majesty|your highness|dear|love|mate|pal|darling|my (?:queen|lord|lady|friend|dear))\b[^,.!?]{0,20}(\?+)\s*$/iu;

/** An address at the end of a statement: "You do brag a lot, my young friend." */
const addressAtEnd =
  /(?<=\p{L}), *(?:my (?:(?:dear|good|young|old|little) )?(?:friend|lord|lady|queen|boy|girl|dear|man|captain|general)|sir|madam|ma['’]am|monsieur|mr|mister|captain|general|your majesty|your highness|old (?:man|chap|fellow))(?: (?!and\b|but\b)\p{L}+)?([.!]*)\s*$/iu;

/** A greeting before a question or request: recognizers may write no mark between them. */
const greetingBefore =
  /^((?:hello|hi|hey|good (?:day|morning|afternoon|evening))(?: (?!i\b|you\b|we\b|it\b)\p{L}+){0,2}?)\s+(?=(?:please )?(?:tell|who|what|where|when|why|how|which|do|does|did|are|is|can|could|would|will|have|may)\b)/iu;
/** A request whose first words the recognizer missed: "about your best friend". */
const aboutAlone = /^(?:(?:me|yeah),? )?(?=about (?:your|the)\b[^,.!?]{3,40}[.!]?$)/iu;
/**
 * A request whose first words the recognizer misheard: "You may tell me about your …", "Evening tell me about …". What
 * others tell ("My friends tell me …") is none.
 */
const beforeTell =
  /^(?:(?!(?:he|she|it|they|we|who|people|others|every(?:one|body)|my|our|your|the|these|those|some|many|all|please|not|never|to|did|does|do|can|could|would|will|won['’]t|don['’]t|didn['’]t)\b)[\p{L}'’]+ ){1,2}(?:tell|telling) (?=me about (?:your|the)\b[^,.!?]{3,40}[.!?]?$)/iu;

/** Words behind a statement that add nothing to it, but look like an act of their own: "I'm an accountant, I'm afraid." */
const tail =
  /(?<=\S \S[^.!?]*), *(?:i(?: really| truly)? (?:am|do|did|was|think|guess|suppose|must say|have to say)|i['’]m afraid|i['’]m sorry to say|that['’]s all|(?:man, )?seriously|more or less|as it happens|to tell (?:you )?the truth|to be (?:honest|fair)(?: with you)?|honestly|by the way|if you ask me|if you don['’]t mind (?:me|my) (?:saying|asking)(?: so)?)(?=[.!]|$)/giu;
const contractedDid =
  /\b(how|where|what|why|who|when)['’]d (?=(?:you|he|she|they|it|we)\b(?! (?:like|rather|prefer|want|say|feel)\b))/giu;
/** "How are you?" of the British; an answer to "How are you?" before something else; "And your mother? I've heard of her." */
const allRight = /(?<=^|[.!,] *)(?:you )?(?:all right|alright)\?$/iu;
const wellAnswered =
  /^(?:(?:not (?:too |so )?bad|fine|good|okay|pretty good|very well)(?:,? (?:thanks|thank you))?[.,!] +)(?=(?:i|i['’]m|my|we|just|it|it['’]s)\b)/iu;
/** "Okay, so I have to ask: …" */
const askingLead =
  /^(?:(?:okay|ok|so|well|right|and|go on)[, ]+)*(?:i(?:['’]ve| have)? (?:got to|have to|must|need to|gotta)|(?:can|may) i|let me) ask(?: you)?[,.:] +(?=.*\?)/iu;
/** "May I ask what your father was like?" */
const mayIAsk =
  /^((?:and|so|but|oh|well)[, ]+)?(?:may|might|can|could) i ask(?: you)?(?: ,)? (?=(?:who|what|where|when|why|how|which)\b)/iu;
/** "They say you hate us. Is it true?" */
const isItTrue = /(?<=^[^?]{8,})[.,] (?:so )?is (?:it|that) (?:really |all )?(?:true|right|so)\?$/iu;
const andYours = /^(?:and |so |but )?(?:and|(?:what|how) about) (your [\p{L}]+)\? (?=\p{L}[^?]*$)/iu;
/** "What about your wife, what's she like?" */
const nounBefore =
  /^(?:(?:and|so|but) )?(?:(?:what|how) about )?((?<=about |and )\p{Lu}\p{Ll}+|your \p{L}+), ((?:(?:what|how|where|who|when|why)(?: \p{L}+)?(?:['’]s| is| was| does| did| has)|is|was|does|did|has)) (?:he|she|it) (?=\p{L})/iu;

/**
 * Removes the full stops of titles, an address at the end, the comma before "please", and "Is it true that". Puts a
 * full stop after a greeting, "tell me" before "about your …", and removes what is misheard before "tell me about".
 */
function plainMessage(userMessage: string): string {
  return userMessage
    .replaceAll(titles, '$1')
    .replaceAll(/\bd['’]you\b/giu, 'do you')
    .replaceAll(contractedDid, '$1 did ')
    .replaceAll(tail, '')
    .replace(/, like,/giu, '')
    .replace(askingLead, '')
    .replace(mayIAsk, '$1')
    .replace(isItTrue, '?')
    .replace(allRight, 'How are you?')
    .replace(wellAnswered, '')
    .replace(nounBefore, '$2 $1 ')
    .replace(andYours, 'Tell me about $1. ')
    .replace(greetingBefore, '$1. ')
    .replace(aboutAlone, 'tell me ')
    .replace(beforeTell, 'tell ')
    .replace(address, '$1')
    .replace(addressAtEnd, '$1')
    .replace(/, *(please\W*)$/iu, ' $1')
    .replace(/^is it true (?:that )?(?=your?\b)/iu, '');
}
