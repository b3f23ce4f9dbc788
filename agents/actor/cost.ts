import type { Cost } from '../agent.ts';
import type { ChatPart, Message } from '../chat.ts';
import { estimatePrompt } from '../prompting/talk-window.ts';
import { estimateShare } from '../llm/token-estimate.ts';

/** Counts the cost of a reply part by part: an estimate, until the model reports its own count, if it ever does. */
export function costMeter(prompt: readonly Message[]): (part: ChatPart) => Cost {
  const inputTokens = estimatePrompt(prompt);
  let written = 0;
  return (part) => {
    if (part.type === 'chat-end' && part.inputTokens + part.outputTokens > 0) {
      return { inputTokens: part.inputTokens, outputTokens: part.outputTokens };
    }
    if (part.type === 'text-delta') written += estimateShare(part.text);
    if (part.type === 'tool-call') written += estimateShare(part.name + part.arguments);
    return { inputTokens, outputTokens: Math.ceil(written) };
  };
}
