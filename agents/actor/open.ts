import type { Character } from '../../characters/character.ts';
import { createCircuitBreaker, type CircuitBreaker } from '../../voices/calls/circuit-breaker.ts';
import type { AdaptersByKind } from '../../voices/calls/context.ts';
import { actor } from './actor.ts';
import type { CharacterAgent } from '../agent.ts';
import type { ChatModel } from '../chat.ts';
import type { SharedEmbedder } from '../embeddings/shared-embedder.ts';
import { withFallback } from './fallback.ts';
import { oncePer } from '../once-per.ts';
import { openPackSearch } from '../prompting/pack-search.ts';
import type { RecipeName } from '../recipe-names.ts';
import { withGuardrail } from '../guardrails/guardrail.ts';
import { scriptedAgent } from '../scripted/scripted.ts';
import { withScript } from './script.ts';

/** Chat model implementations, by their name in the engines file. */
export const chatKinds: AdaptersByKind<ChatModel> = {
  'node-llama-cpp': () => import('../chats/node-llama-cpp.ts'),
  'openai-chat': () => import('../chats/openai-chat.ts'),
};

/** A model, and the circuit breaker that stops calls while it fails. */
export interface ModelWithCircuit {
  readonly model: ChatModel;
  readonly circuit?: CircuitBreaker;
}

/**
 * One agent for each character, made once: models, each the backup of the one before, then the lines of its pack. With
 * an `embedder`, prompt material is also found by embedding.
 */
export function openAgents(
  models: readonly ModelWithCircuit[] = [],
  recipe?: RecipeName,
  embedder?: SharedEmbedder,
): (character: Character) => CharacterAgent {
  return oncePer((character: Character) => {
    const lines = scriptedAgent(character);
    const findByEmbedding =
      embedder === undefined || models.length === 0 ? undefined : openPackSearch(character, embedder);
    const settings = {
      ...(recipe === undefined ? {} : { recipe }),
      ...(findByEmbedding === undefined ? {} : { findByEmbedding }),
    };
    const played = models.reduceRight(
      (backup: CharacterAgent, { model, circuit }) =>
        withFallback(withGuardrail(actor(character, model, settings), recipe), backup, circuit),
      lines,
    );
    return withScript(played);
  });
}

/** The same model for background work, behind the same circuit breaker as the conversations. */
export function gated({ model, circuit = createCircuitBreaker() }: ModelWithCircuit): ChatModel {
  return {
    name: model.name,
    chat: (messages, options) => circuit.attempt(model.name, () => model.chat(messages, options), options),
  };
}
