import { Rechunker, type AudioFrame } from '../../voices/audio.ts';

/**
 * Yields speech in windows of 32 ms, as a session passes it to a recognizer, followed by silence. `flagged` false:
 * without VAD flags.
 */
export function* vadFrames(speech: Float32Array, sampleRate: number, flagged = true): Generator<AudioFrame> {
  const windowSamples = Math.round(sampleRate * 0.032);
  const windows = new Rechunker(windowSamples).push(speech);
  const silence = Array.from({ length: 25 }, () => new Float32Array(windowSamples));
  for (const [index, samples] of [...windows, ...silence].entries()) {
    const frame = { samples, sampleRate, atMs: index * 32 };
    yield flagged ? { ...frame, voiced: index < windows.length } : frame;
  }
}
