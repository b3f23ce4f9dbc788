import { EngineError } from '../../voices/engine.ts';
import type { CharacterAgent, ReplyPart } from '../agent.ts';
import { createCircuitBreaker, type CircuitBreaker } from '../../voices/calls/circuit-breaker.ts';
import { languageOf } from '../retrieval/words.ts';
import { evasion } from '../scripted/moves.ts';

/**
 * Answers with `primary`, or with `backup` if it fails, so that the character never falls silent. If `primary` fails
 * after some of its text was output, one of the card's evasions completes the turn. All agents that depend on the same
 * engine may share a `circuit`; while it is open, `backup` answers directly.
 */
export function withFallback(
  primary: CharacterAgent,
  backup: CharacterAgent,
  circuit: CircuitBreaker = createCircuitBreaker(),
): CharacterAgent {
  const { character } = primary;
  return {
    character,
    async *reply(history, options) {
      const reply = (): AsyncIterable<ReplyPart> => primary.reply(history, options);
      const wayOut = (): string => {
        const userMessage = history.findLast((message) => message.role === 'user')?.text ?? '';
        return evasion(character, history, languageOf(userMessage, character.languages));
      };
      let spoke = false;
      let acted = false;
      try {
        for await (const part of circuit.attempt(character.name, reply, options)) {
          spoke ||= part.type === 'text-delta';
          acted ||= spoke || part.type === 'tool-call';
          // A reply filtered to nothing is not an engine failure, but must not leave silence.
          if (part.type === 'usage' && part.cutShort === 'filter' && !acted)
            yield { type: 'text-delta', text: wayOut() };
          yield part;
        }
      } catch (cause) {
        options.signal.throwIfAborted();
        if (!(cause instanceof EngineError) || cause.code === 'ENGINE_NOT_RECORDED') throw cause;
        const instead = marked(backup.reply(history, options), cause.code);
        if (!spoke) {
          yield* instead;
          return;
        }
        const text = ` ${wayOut()}`;
        for await (const part of instead) {
          yield part.type === 'text-delta' ? { type: 'text-delta', text } : part;
        }
      }
    },
  };
}

/** The same reply, with the reason for the fallback. */
export async function* marked(parts: AsyncIterable<ReplyPart>, because: string): AsyncIterable<ReplyPart> {
  for await (const part of parts) yield part.type === 'reply-source' ? { ...part, because } : part;
}
