import { pcm16FromFloats } from '../../voices/audio.ts';
import type { WireEvent } from '../protocol/server-events.ts';
import { randomBytes } from 'node:crypto';

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

export function isAudio(out: WireEvent | OutgoingAudio): out is OutgoingAudio {
  return !('type' in out);
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

const idBytes = 12;
/** Random bytes for many ids at once: a call for them costs more than making an id. */
let random = Buffer.alloc(0);
let randomUsed = 0;

/** Returns a new id, with OpenAI's prefix for its kind. */
export function newId(kind: 'sess' | 'event' | 'item' | 'resp'): string {
  if (randomUsed === random.length) {
    random = randomBytes(64 * idBytes);
    randomUsed = 0;
  }
  randomUsed += idBytes;
  return `${kind}_${random.toString('base64url', randomUsed - idBytes, randomUsed)}`;
}
