import { EngineError } from '../../voices/engine.ts';
import type { Vad } from '../../voices/vad.ts';

/**
 * Detects speech if the mean level is above 0.05. `openStreams` counts streams; `failNext` makes the next score fail.
 */
export function fakeVad(): Vad & { openStreams: number; failNext: boolean; close(): Promise<void> } {
  const vad = {
    name: 'fake-vad',
    sampleRate: 16_000,
    windowSamples: 512,
    openStreams: 0,
    failNext: false,
    close: async () => undefined,
    open() {
      let closed = false;
      vad.openStreams += 1;
      return {
        async score(window: Float32Array) {
          if (closed) throw new EngineError('fake-vad', 'ENGINE_UNAVAILABLE', 'the stream is closed');
          if (vad.failNext) {
            vad.failNext = false;
            throw new EngineError('fake-vad', 'ENGINE_UNAVAILABLE', 'its worker thread ended');
          }
          const level = window.reduce((sum, sample) => sum + Math.abs(sample), 0) / window.length;
          return level > 0.05 ? 0.95 : 0.02;
        },
        close() {
          if (!closed) vad.openStreams -= 1;
          closed = true;
        },
      };
    },
  };
  return vad;
}

/** Samples that the fake VAD classifies as speech, and as silence. */
export function tone(ms: number, sampleRate = 24_000): Float32Array {
  return Float32Array.from({ length: (ms * sampleRate) / 1000 }, (_, index) => 0.4 * Math.sin(index / 6));
}
export function silence(ms: number, sampleRate = 24_000): Float32Array {
  return new Float32Array((ms * sampleRate) / 1000);
}
