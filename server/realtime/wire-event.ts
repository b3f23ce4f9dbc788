import { pcm16FromFloats } from '../../voices/audio.ts';
import type { WireEvent } from '../protocol/server-events.ts';
import type { ReplyEnd } from '../session/contract/events.ts';

/** Audio of a reply on its way out, before it takes a wire form: mono at the wire's rate of 24 kHz. */
export interface OutgoingAudio {
  readonly responseId: string;
  readonly itemId: string;
  readonly samples: Float32Array;
  /** The same audio in the format that the client asked for, if that is not the wire's PCM. */
  readonly encoded?: Uint8Array;
  /** Samples of the item sent before these. */
  readonly offsetSamples: number;
}

/** Tells audio from events. */
export function isAudio(out: WireEvent | OutgoingAudio): out is OutgoingAudio {
  return !('type' in out);
}

/**
 * Returns the token counts that OpenAI's clients expect. Audio is counted as they count it: 10 tokens a second in, 20
 * out.
 */
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

/** Scratch buffer for audio to be encoded in base64: room for what is sent at once. */
const pcm = Buffer.from(new ArrayBuffer(8 * 1024));

/** Returns audio as the event that carries it by default. */
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
