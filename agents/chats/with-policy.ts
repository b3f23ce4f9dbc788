import type { Calls, Meter } from '../../voices/calls/calls.ts';
import type { ChatModel, ChatPart } from '../chat.ts';

/** Applies the call policy to a chat model and meters its tokens: the last step of every chat adapter. */
export function withCallPolicy(model: ChatModel, calls: Calls): ChatModel {
  return {
    name: model.name,
    chat: (messages, options) =>
      calls.stream(({ signal, meter }) => counted(model.chat(messages, { ...options, signal }), meter), options),
  };
}

async function* counted(parts: AsyncIterable<ChatPart>, meter: Meter): AsyncGenerator<ChatPart> {
  for await (const part of parts) {
    if (part.type === 'chat-end') {
      meter.inputTokens = part.inputTokens;
      meter.outputTokens = part.outputTokens;
    }
    yield part;
  }
}
