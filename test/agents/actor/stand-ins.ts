import type { AgentOptions, CharacterAgent, ReplyPart } from '../../../agents/agent.ts';
import type { ChatEnd, ChatModel, ChatPart, ChatSettings, Message } from '../../../agents/chat.ts';
import { cardSchema, type DialoguePair } from '../../../characters/card.ts';
import type { Character } from '../../../characters/character.ts';

/** A small character with every field that an agent needs. */
export function smallCharacter(changes: Partial<Character> = {}): Character {
  const card = cardSchema.parse({
    id: 'innkeeper',
    name: 'Martha Greene',
    tagline: 'Keeps the inn at the crossroads',
    identity: 'Martha Greene keeps the Blue Boar, an inn at a windy crossroads.',
    work: { title: 'Tests', rights: 'ours' },
    languages: ['en'],
    profile: 'A stout woman of fifty.',
    background: 'Born above the taproom.',
    relationships: [{ name: 'Old Tom', relation: 'ostler and friend' }],
    temperament: ['hearty', 'shrewd'],
    style: 'Broad and quick.',
    catchphrases: ['Mind the step.'],
    knowledge: { knows: 'Ale, horses and weather.', untilYear: 1750, unknown: 'Anything with wires.' },
    greetings: ['Come in out of the wind.', 'Welcome to the Blue Boar.', 'Sit you down.'],
    evasions: [
      'Now there is a question.',
      'Ask me an easier one.',
      'I only pour the ale.',
      'Tom would know.',
      'Hm.',
      'Could be.',
    ],
    repeatRequests: ['Say again?', 'The wind took that.', 'Speak up, love.'],
    lorebook: [
      { keys: ['boar', 'inn sign'], content: 'The sign was painted by a soldier who could not pay.' },
      { keys: ['ghost'], content: 'A grey lady walks in the cellar.' },
      { keys: ['crossroads'], content: 'The inn stands where two roads meet.', constant: true },
    ],
    voice: { gender: 'female', description: 'Warm and loud.' },
  });
  return { ...card, lines, ...changes };
}

const lines: readonly DialoguePair[] = [
  { asks: ['Hello', 'Good day to you'], reply: 'Good day, traveller.' },
  { asks: ['How are you?'], reply: 'My knees ache, so it will rain.' },
  { asks: ['Do you have a room?', 'Is there a bed for the night?'], reply: 'One, with a draught in it.' },
  { asks: ['What ale do you have?', 'Can I have a beer?'], reply: 'Brown, and browner.' },
  { asks: ['Tell me about the ghost', 'Is the inn haunted?'], reply: 'She walks at midnight, and she pays no rent.' },
  { asks: ['Who was the ghost?', 'What was the name of the grey lady?'], reply: 'Some say she was a bride.' },
  { asks: ['Why?', 'How come?'], reply: 'Because the road goes by the door.' },
  { asks: ['Really?'], reply: 'Truly, or may I be struck down.' },
  { asks: ['Goodbye'], reply: 'Mind the step.' },
];

/** A chat model that gives the deltas, then throws or ends. Records its calls. */
export function fakeChat(
  deltas: readonly string[],
  ending: { readonly error?: Error; readonly reason?: ChatEnd; readonly counts?: boolean } = {},
): ChatModel & { readonly calls: { readonly messages: readonly Message[]; readonly settings: ChatSettings }[] } {
  const calls: { readonly messages: readonly Message[]; readonly settings: ChatSettings }[] = [];
  return {
    name: 'fake-model',
    calls,
    async *chat(messages, { signal, ...settings }): AsyncGenerator<ChatPart> {
      calls.push({ messages, settings });
      for (const text of deltas) {
        signal.throwIfAborted();
        yield { type: 'text-delta', text };
      }
      if (ending.error !== undefined) throw ending.error;
      const counted =
        ending.counts === false ? { inputTokens: 0, outputTokens: 0 } : { inputTokens: 5, outputTokens: 2 };
      yield { type: 'chat-end', reason: ending.reason ?? 'stop', ...counted };
    },
  };
}

/** All parts of the reply to a conversation, given as alternating messages, the user's first. */
export async function replyParts(
  agent: CharacterAgent,
  talk: readonly string[],
  options: Partial<AgentOptions> = {},
): Promise<ReplyPart[]> {
  const signal = new AbortController().signal;
  return Array.fromAsync(agent.reply(asHistory(talk), { signal, ...options }));
}

/** The text of a reply. */
export function wordsOf(parts: readonly ReplyPart[]): string {
  return parts.map((part) => (part.type === 'text-delta' ? part.text : '')).join('');
}

/** Converts alternating messages, the user's first, to a history. */
export function asHistory(talk: readonly string[]): Message[] {
  return talk.map((text, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', text }));
}
