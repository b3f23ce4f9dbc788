import type { AudioFrame } from '../../voices/audio.ts';
import { EngineError } from '../../voices/engine.ts';
import type { SpeakerEncoder } from '../../voices/speaker-encoder.ts';

/**
 * Returns embeddings with the script's angles in turn, repeating the last; an `Error` in it is thrown. `heardMs`
 * records the length of each clip.
 */
export function scriptedSpeakerEncoder(script: readonly (number | Error)[] = [0]): SpeakerEncoder & {
  readonly heardMs: number[];
  close(): Promise<void>;
} {
  const heardMs: number[] = [];
  return {
    name: 'fake-encoder',
    sampleRate: 16_000,
    dimensions: 2,
    heardMs,
    close: async () => undefined,
    async embed({ samples, sampleRate }: AudioFrame, { signal }) {
      signal.throwIfAborted();
      if (samples.length < sampleRate / 2) throw new EngineError('fake-encoder', 'ENGINE_REFUSED', 'too short');
      const answer = script[Math.min(heardMs.length, script.length - 1)] ?? 0;
      heardMs.push(Math.round((samples.length / sampleRate) * 1000));
      await new Promise((resolve) => void setImmediate(resolve));
      signal.throwIfAborted();
      if (answer instanceof Error) throw answer;
      return Float32Array.of(Math.cos(answer), Math.sin(answer));
    },
  };
}
