import type { Character } from '../../characters/character.ts';
import type { CharacterAgent, Situation } from '../agent.ts';
import { chooseLine, hashOf } from '../retrieval/choice.ts';
import { languageOf } from '../retrieval/words.ts';

/** Backchannels by the character, as words that voices can speak; a hum would be spelled out. */
const acknowledgements: Readonly<Record<string, readonly string[]>> = {
  en: ['I see.', 'Yes.', 'Go on.'],
  zh: ['嗯。', '是吗。', '哦。'],
  fr: ['Oui.', 'Je vois.'],
  de: ['Ja.', 'Ach so.'],
  es: ['Sí.', 'Ya veo.'],
};

function linesFor(
  situation: Exclude<Situation, 'idle' | 'event'>,
  { greetings, repeatRequests, languages }: Character,
): readonly string[] {
  if (situation === 'greeting') return greetings;
  if (situation === 'unclear') return repeatRequests;
  const spoken = languages.flatMap((language) => acknowledgements[language.split('-')[0] ?? ''] ?? []);
  return spoken.length > 0 ? spoken : (acknowledgements['en'] ?? []);
}

/**
 * Speaks canned lines of the card if no answer is needed: a greeting when a conversation opens, a request to repeat if
 * nothing was understood, a backchannel while the user talks. `random` (0 to below 1) chooses the greeting, since all
 * conversations begin alike; with a seed, that does.
 */
export function withScript(agent: CharacterAgent, random: () => number = Math.random): CharacterAgent {
  const { character } = agent;
  return {
    character,
    async *reply(history, options) {
      if (options.situation === undefined || options.situation === 'idle' || options.situation === 'event') {
        yield* agent.reply(history, options);
        return;
      }
      options.signal.throwIfAborted();
      const lines = linesFor(options.situation, character);
      const userMessage = history.findLast((message) => message.role === 'user')?.text ?? '';
      const language = languageOf(userMessage, character.languages);
      const fitting = lines.filter((line) => languageOf(line, character.languages) === language);
      const offered = fitting.length > 0 ? fitting : lines;
      const seed = options.sampling?.seed;
      const drawn = seed === undefined ? Math.floor(random() * offered.length) : hashOf(`${seed}`) % offered.length;
      const greeting = offered[drawn];
      const isFirst = options.situation === 'greeting' && history.length === 0;
      const text = isFirst && greeting !== undefined ? greeting : chooseLine(offered, history);
      yield { type: 'reply-source', name: 'script' };
      yield { type: 'text-delta', text };
      yield { type: 'usage', inputTokens: 0, outputTokens: 0, cutShort: false };
    },
  };
}
