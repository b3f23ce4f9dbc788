import type { ChatHistoryItem, ChatModelFunctions, ChatModelResponse } from 'node-llama-cpp';
import type { Message } from '../chat.ts';
import type { Toolbox } from '../tools.ts';

/** Converts messages to node-llama-cpp's history: calls are part of a response; the last item is to be generated. */
export function llamaHistory(messages: readonly Message[]): ChatHistoryItem[] {
  const results = new Map(
    messages.flatMap((message) => (message.role === 'tool' ? [[message.callId, message.text]] : [])),
  );
  const history: ChatHistoryItem[] = [];
  const answer = (): ChatModelResponse => {
    const last = history.at(-1);
    if (last?.type === 'model') return last;
    const opened: ChatModelResponse = { type: 'model', response: [] };
    history.push(opened);
    return opened;
  };
  for (const message of messages) {
    if (message.role === 'system' || message.role === 'user') history.push({ type: message.role, text: message.text });
    else if (message.role === 'assistant') {
      const { response } = answer();
      if (message.text !== '') response.push(message.text);
      for (const { callId, name, arguments: text } of message.calls ?? []) {
        const params: unknown = JSON.parse(text);
        response.push({ type: 'functionCall', name, params, result: results.get(callId) ?? '' });
      }
    }
  }
  const lastCalls = messages.at(-1)?.role === 'tool';
  if (!lastCalls) history.push({ type: 'model', response: [] });
  return history;
}

/** The functions offered to the model. If one function is chosen, only that is offered; a call cannot be forced. */
export function llamaFunctions(toolbox: Toolbox | undefined): ChatModelFunctions | undefined {
  if (toolbox === undefined || toolbox.choice === 'none') return undefined;
  const { choice } = toolbox;
  const offered = typeof choice === 'string' ? toolbox.tools : toolbox.tools.filter(({ name }) => name === choice.name);
  if (offered.length === 0) return undefined;
  return Object.fromEntries(
    offered.map(({ name, description, parameters }) => [
      name,
      {
        ...(description === undefined ? {} : { description }),
        ...(parameters === undefined ? {} : { params: parameters }),
      },
    ]),
  ) as ChatModelFunctions;
}

/** Length of the common prefix of two conversations, in messages. */
export function sharedTurns(one: readonly string[], other: readonly string[]): number {
  const end = one.findIndex((message, index) => message !== other[index]);
  return end < 0 ? one.length : end;
}
