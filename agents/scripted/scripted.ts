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
          : (again ?? replyTo(mind)));
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
  /^\W*(?:sorry\W+)?(?:(?:can|could|would) you )?(?:please )?(?:say (?:that|it) (?:again|(?:more )?slowly|louder)|repeat (?:that|it)|come again|pardon(?: me)?|what(?: was that)?|(?:[^.?!]{0,40}[,.] )?what (?:did|were) you (?:just )?say(?:ing)?|i (?:did not|didn['’]t|could not|couldn['’]t) (?:hear|catch) (?:you|that|it|what you said))\W*(?:please|sorry)?\W*$|^\W*(?:你?再说一[遍次]|(?:我)?没听清|(?:你刚才|刚才你|你)?(?:刚)?说(?:了)?(?:什么|啥)(?:来着)?)[\p{P}\s啊呀吗]*$/iu;

/** Returns the line said last if the user asks to repeat it. */
function saidAgain(lines: readonly DialoguePair[], history: readonly Message[]): DialoguePair | undefined {
  const last = history.findLast(({ role }) => role === 'assistant')?.text;
  if (last === undefined || !asksAgain.test(history.findLast(({ role }) => role === 'user')?.text ?? ''))
    return undefined;
  return lines.find(({ reply }) => isSameLine(last, reply)) ?? { asks: [], reply: last };
}
