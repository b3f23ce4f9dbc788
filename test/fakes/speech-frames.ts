import { Rechunker, type AudioFrame } from '../../voices/audio.ts';

/** Speech in windows of 32 ms as a session hands it over, and silence behind it; `flagged` false: no VAD has listened. */
export function* asHeard(speech: Float32Array, sampleRate: number, flagged = true): Generator<AudioFrame> {
  const windowSamples = Math.round(sampleRate * 0.032);
  const windows = new Rechunker(windowSamples).push(speech);
  const silence = Array.from({ length: 25 }, () => new Float32Array(windowSamples));
  for (const [index, samples] of [...windows, ...silence].entries()) {
    const frame = { samples, sampleRate, atMs: index * 32 };
    yield flagged ? { ...frame, voiced: index < windows.length } : frame;
  }
}
