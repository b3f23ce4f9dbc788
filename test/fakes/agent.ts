import type { CharacterAgent } from '../../agents/agent.ts';
import type { Message } from '../../agents/chat.ts';
import type { Character } from '../../characters/character.ts';

/** Answers with the script's lines in turn; an `Error` in the script is thrown. `histories` keeps what it was given. */
export function fakeAgent(
  script: readonly (string | Error)[],
): CharacterAgent & { readonly histories: (readonly Message[])[]; readonly situations: (string | undefined)[] } {
  let next = 0;
  const histories: (readonly Message[])[] = [];
  const situations: (string | undefined)[] = [];
  return {
    character: { id: 'fake' } as Character,
    histories,
    situations,
    async *reply(history, options) {
      histories.push(history);
      situations.push(options.situation);
      const line = script[next % script.length] ?? '';
      next += 1;
      yield { type: 'mind', name: 'fake-mind' };
      for (const delta of typeof line === 'string' ? line.split(/(?<=\s)/u) : []) {
        options.signal.throwIfAborted();
        yield { type: 'text-delta', text: delta };
      }
      if (line instanceof Error) throw line;
      yield { type: 'usage', inputTokens: 3, outputTokens: 5, cutShort: false };
    },
  };
}
