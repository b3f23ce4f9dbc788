import type { Character } from '../../characters/character.ts';
import { openCircuit, type Circuit } from '../../voices/calls/circuit.ts';
import { EngineError } from '../../voices/engine.ts';
import type { Kinds } from '../../voices/calls/context.ts';
import { actor } from './actor.ts';
import type { CharacterAgent } from '../agent.ts';
import type { ChatModel } from '../chat.ts';
import type { Meanings } from '../embeddings/embedding-index.ts';
import { withFallback } from './fallback.ts';
import { openMeaning } from '../prompting/meaning.ts';
import type { RecipeName } from '../recipe-names.ts';
import { inRole } from '../guardrails/guardrail.ts';
import { retrievalAgent } from '../retrieval/retrieval.ts';
import { withScript } from './script.ts';

/** Chat model implementations, by their name in the engines file. */
export const chatKinds: Kinds<ChatModel> = {
  'node-llama-cpp': () => import('../chats/node-llama-cpp.ts'),
  'openai-chat': () => import('../chats/openai-chat.ts'),
};

/** A model, and the circuit breaker that stops calls while it fails. */
export interface MindModel {
  readonly model: ChatModel;
  readonly circuit?: Circuit;
}

/**
 * Creates the reply sources of a server: one agent for each character, made once. Without a model they speak the lines
 * of their packs; with models, the first plays the character, the next takes over if it fails, and the pack answers if
 * all fail. With `meanings`, prompt material is also found by embedding.
 */
export function openMind(
  models: readonly MindModel[] = [],
  recipe?: RecipeName,
  meanings?: Meanings,
): (character: Character) => CharacterAgent {
  const agents = new WeakMap<Character, CharacterAgent>();
  return (character) => {
    const known = agents.get(character);
    if (known !== undefined) return known;
    const lines = retrievalAgent(character);
    const meaning = meanings === undefined || models.length === 0 ? undefined : openMeaning(character, meanings);
    const settings = { ...(recipe === undefined ? {} : { recipe }), ...(meaning === undefined ? {} : { meaning }) };
    const played = models.reduceRight(
      (backup: CharacterAgent, { model, circuit }) =>
        withFallback(inRole(actor(character, model, settings), recipe), backup, circuit),
      lines,
    );
    const agent = withScript(played);
    agents.set(character, agent);
    return agent;
  };
}

/** The same model for background work, behind the same circuit breaker as the conversations. */
export function gated({ model, circuit = openCircuit() }: MindModel): ChatModel {
  return {
    name: model.name,
    async *chat(messages, options) {
      const restsBecause = circuit.enter();
      if (restsBecause !== undefined)
        throw new EngineError(model.name, restsBecause, 'it failed several times and is left alone');
      let judged = false;
      try {
        yield* model.chat(messages, options);
        judged = true;
        circuit.succeeded();
      } catch (cause) {
        if (!options.signal.aborted && cause instanceof EngineError) {
          judged = true;
          circuit.failed(cause.code);
        }
        throw cause;
      } finally {
        if (!judged) circuit.left();
      }
    },
  };
}
