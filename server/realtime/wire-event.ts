import { pcm16FromFloats } from '../../voices/audio.ts';
import type { ReplyEnd } from '../session/contract/events.ts';

/** A server event of OpenAI Realtime (GA), without its `event_id`. */
export interface WireEvent extends Record<string, unknown> {
  readonly type: string;
}

/** Sound of a reply on its way out, before it takes a wire form: mono at the wire's rate of 24 kHz. */
export interface OutgoingAudio {
  readonly responseId: string;
  readonly itemId: string;
  readonly samples: Float32Array;
  /** The same sound in the format the client asked for, where that is not the wire's PCM. */
  readonly encoded?: Uint8Array;
  /** Samples of the item that went before. */
  readonly offsetSamples: number;
}

/** Tells sound from events. */
export function isAudio(out: WireEvent | OutgoingAudio): out is OutgoingAudio {
  return !('type' in out);
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

/** Sound on its way into base64, used again for the next: room for what leaves at once. */
const pcm = Buffer.from(new ArrayBuffer(8 * 1024));

/** Sound as the event that carries it where nothing better is agreed. */
export function audioDelta(audio: OutgoingAudio): WireEvent {
  const bytes = audio.encoded === undefined ? pcm16FromFloats(audio.samples, pcm) : Buffer.from(audio.encoded);
  return {
    type: 'response.output_audio.delta',
    response_id: audio.responseId,
    item_id: audio.itemId,
    output_index: 0,
    content_index: 0,
    delta: bytes.toString('base64'),
  };
}
