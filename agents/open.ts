import type { Character } from '../characters/character.ts';
import { actor } from './actor.ts';
import type { CharacterAgent } from './agent.ts';
import { openOpenaiChat, type OpenaiChatOptions } from './chats/openai.ts';
import { openCircuit } from '../voices/calls/circuit.ts';
import { withFallback } from './fallback.ts';
import { retrievalAgent } from './retrieval.ts';
import { withScript } from './script.ts';

/**
 * The minds of one server: for each character an agent, made once. Without a chat server they speak the lines of their
 * packs; with one the model plays them, and the packs step in where it fails.
 */
export function openMind(llm?: OpenaiChatOptions): (character: Character) => CharacterAgent {
  const agents = new WeakMap<Character, CharacterAgent>();
  const chatModel = llm === undefined ? undefined : openOpenaiChat(llm);
  const circuit = openCircuit();
  return (character) => {
    const known = agents.get(character);
    if (known !== undefined) return known;
    const lines = retrievalAgent(character);
    const agent = withScript(
      chatModel === undefined ? lines : withFallback(actor(character, chatModel), lines, circuit),
    );
    agents.set(character, agent);
    return agent;
  };
}
