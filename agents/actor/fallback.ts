import { EngineError } from '../../voices/engine.ts';
import type { CharacterAgent, ReplyPart } from '../agent.ts';
import { openCircuit, type Circuit } from '../../voices/calls/circuit.ts';
import { languageOf } from '../language.ts';
import { evasion } from '../retrieval/retrieval.ts';

/**
 * Answers with `primary`; where it fails, `backup` answers instead, so that the character never falls silent. If words of
 * `primary` are out already, one of the card's evasions rounds the turn off. A `circuit` may be shared by all agents that
 * depend on the same engine; while it rests, `backup` answers at once.
 */
export function withFallback(
  primary: CharacterAgent,
  backup: CharacterAgent,
  circuit: Circuit = openCircuit(),
): CharacterAgent {
  const { character } = primary;
  return {
    character,
    async *reply(history, options) {
      const restsBecause = circuit.enter();
      if (restsBecause !== undefined) {
        yield* marked(backup.reply(history, options), restsBecause);
        return;
      }
      const wayOut = (): string => {
        const remark = history.findLast((message) => message.role === 'user')?.text ?? '';
        return evasion(character, history, languageOf(remark, character.languages));
      };
      let spoke = false;
      let acted = false;
      let judged = false;
      try {
        for await (const part of primary.reply(history, options)) {
          spoke ||= part.type === 'text-delta';
          acted ||= spoke || part.type === 'tool-call';
          // A filter that leaves no word is no failure of the model, but nobody is to be met with silence.
          if (part.type === 'usage' && part.cutShort === 'filter' && !acted)
            yield { type: 'text-delta', text: wayOut() };
          yield part;
        }
        judged = true;
        circuit.succeeded();
      } catch (cause) {
        options.signal.throwIfAborted();
        if (!(cause instanceof EngineError)) throw cause;
        judged = true;
        circuit.failed(cause.code);
        const instead = marked(backup.reply(history, options), cause.code);
        if (!spoke) {
          yield* instead;
          return;
        }
        const text = ` ${wayOut()}`;
        for await (const part of instead) {
          yield part.type === 'text-delta' ? { type: 'text-delta', text } : part;
        }
      } finally {
        if (!judged) circuit.left();
      }
    },
  };
}

/** The same reply, saying why this mind and no other gives it. */
async function* marked(parts: AsyncIterable<ReplyPart>, because: string): AsyncIterable<ReplyPart> {
  for await (const part of parts) yield part.type === 'mind' ? { ...part, because } : part;
}
