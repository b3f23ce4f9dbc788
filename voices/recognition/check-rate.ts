import type { AudioFrame } from '../audio.ts';
import { EngineError } from '../engine.ts';

/** Throws `ENGINE_REFUSED` if a frame has another rate than the recognizer `name` takes. */
export function checkRate({ sampleRate }: AudioFrame, wanted: number, name: string): void {
  if (sampleRate === wanted) return;
  throw new EngineError(
    name,
    'ENGINE_REFUSED',
    `frames must have a sample rate of ${wanted} Hz, not ${sampleRate}: resample them`,
  );
}
