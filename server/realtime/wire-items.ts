import {
  concatSamples,
  floatsFromInt16,
  floatsFromPcm16,
  int16FromFloats,
  pcm16FromFloats,
} from '../../voices/audio.ts';
import { resample } from '../../voices/resampler.ts';
import type { WireMessage } from '../protocol/client-events.ts';
import { wireSampleRate } from '../protocol/limits.ts';
import type { Item } from '../session/conversation.ts';

/** Base64 as RFC 4648 §4 has it. */
const base64Pattern = /^[A-Za-z0-9+/]*={0,2}$/;

/** Base64 of 16-bit PCM to samples; undefined where it is not that. */
export function samplesFromBase64(audio: string): Float32Array | undefined {
  if (audio.length % 4 === 1 || !base64Pattern.test(audio)) return undefined;
  const bytes = Buffer.from(audio, 'base64');
  return bytes.length % 2 === 0 ? floatsFromPcm16(bytes) : undefined;
}

/** A client's message as an item; undefined where its audio cannot be read. `sampleRate` is what the recognizer wants. */
export function itemFromWire(message: WireMessage, id: string, sampleRate: number): Item | undefined {
  const content: Item['content'] = [];
  for (const part of message.content) {
    if (part.type === 'input_image') continue;
    const spoken = part.type === 'input_audio' || part.type === 'output_audio' || part.type === 'audio';
    if (!spoken) content.push({ type: 'text', text: part.text ?? '' });
    else {
      const samples = samplesFromBase64(part.audio ?? '');
      if (samples === undefined) return undefined;
      const audio = samples.length === 0 ? [] : [int16FromFloats(resample(samples, wireSampleRate, sampleRate))];
      const durationMs = (samples.length / wireSampleRate) * 1000;
      content.push({ type: 'audio', transcript: part.transcript ?? null, durationMs, audio, sampleRate, words: [] });
    }
  }
  return { id, role: message.role, status: 'completed', content };
}

/** An item as the wire has it; with its sound only where `withAudio` asks for it. */
export function wireItem(item: Item, withAudio = false): Record<string, unknown> {
  return {
    id: item.id,
    object: 'realtime.item',
    type: 'message',
    status: item.status,
    role: item.role,
    content: item.content.map((part) => {
      if (part.type === 'text')
        return { type: item.role === 'assistant' ? 'output_text' : 'input_text', text: part.text };
      return {
        type: item.role === 'assistant' ? 'output_audio' : 'input_audio',
        transcript: part.transcript,
        ...(withAudio ? { audio: wireAudio(part.audio, part.sampleRate) } : {}),
      };
    }),
  };
}

/** Kept sound as base64 of the wire's PCM. */
function wireAudio(blocks: readonly Int16Array[], sampleRate: number): string {
  const samples = concatSamples(blocks.map(floatsFromInt16));
  return pcm16FromFloats(resample(samples, sampleRate, wireSampleRate)).toString('base64');
}
