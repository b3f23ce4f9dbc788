import type { ChatModel } from '../../../agents/chat.ts';

/** Usage of a model so far. */
export interface ModelUsage {
  calls: number;
  inputTokens: number;
  outputTokens: number;
}

/** Wraps a model to add up its usage in `spent`, as far as the server reports it. */
export function metered(model: ChatModel, spent: ModelUsage): ChatModel {
  return {
    name: model.name,
    async *chat(messages, options) {
      spent.calls += 1;
      for await (const part of model.chat(messages, options)) {
        if (part.type === 'chat-end') {
          spent.inputTokens += part.inputTokens;
          spent.outputTokens += part.outputTokens;
        }
        yield part;
      }
    },
  };
}

/** Formats usage, such as "131 calls, 310,000 input tokens, 45,000 output tokens". */
export function spentInWords({ calls, inputTokens, outputTokens }: ModelUsage): string {
  const number = (value: number): string => value.toLocaleString('en');
  return `${number(calls)} calls, ${number(inputTokens)} input tokens, ${number(outputTokens)} output tokens`;
}
