import { wireSampleRate } from '../protocol/limits.ts';
import type { ReplyEnd } from '../session/events.ts';

/** A server event of OpenAI Realtime (GA), without its `event_id`. */
export interface WireEvent extends Record<string, unknown> {
  readonly type: string;
}

/** The token counts OpenAI's clients expect. Sound is counted as they count it: 10 tokens a second in, 20 out. */
export function usageOf(usage: ReplyEnd['usage']): Record<string, unknown> {
  const audioTokens = Math.round(usage.audioMs / 50);
  return {
    total_tokens: usage.inputTokens + usage.outputTokens + audioTokens,
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens + audioTokens,
    input_token_details: {
      text_tokens: usage.inputTokens,
      audio_tokens: 0,
      image_tokens: 0,
      cached_tokens: 0,
      cached_tokens_details: { text_tokens: 0, audio_tokens: 0, image_tokens: 0 },
    },
    output_token_details: { text_tokens: usage.outputTokens, audio_tokens: audioTokens },
  };
}

/** The format of outgoing audio, as the wire names it. */
export const wireFormat = { type: 'audio/pcm', rate: wireSampleRate } as const;
