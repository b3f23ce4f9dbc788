import type { CharacterAgent } from './agent.ts';
import { chooseLine } from './choice.ts';
import { languageOf } from './language.ts';

/**
 * Speaks the card's own words where no thought is needed: a greeting when a talk opens, a request to say it again when
 * nothing was understood. `random` (0 to below 1) chooses the greeting, since all talks begin alike.
 */
export function withScript(agent: CharacterAgent, random: () => number = Math.random): CharacterAgent {
  const { character } = agent;
  return {
    character,
    async *reply(history, options) {
      if (options.situation === undefined || options.situation === 'idle') {
        yield* agent.reply(history, options);
        return;
      }
      options.signal.throwIfAborted();
      const lines = options.situation === 'greeting' ? character.greetings : character.repeatRequests;
      const remark = history.findLast((message) => message.role === 'user')?.text ?? '';
      const language = languageOf(remark, character.languages);
      const fitting = lines.filter((line) => languageOf(line, character.languages) === language);
      const offered = fitting.length > 0 ? fitting : lines;
      const greeting = offered[Math.floor(random() * offered.length)];
      const isFirst = options.situation === 'greeting' && history.length === 0;
      const text = isFirst && greeting !== undefined ? greeting : chooseLine(offered, history);
      yield { type: 'mind', name: 'script' };
      yield { type: 'text-delta', text };
      yield { type: 'usage', inputTokens: 0, outputTokens: 0, cutShort: false };
    },
  };
}
