import { Rechunker, type AudioFrame } from '../../voices/audio.ts';
import { createVadHysteresis } from '../../voices/dsp/vad-hysteresis.ts';
import type { TranscriptPart } from '../../voices/recognizer.ts';
import type { Engines } from '../engines/engines.ts';

type Final = Extract<TranscriptPart, { readonly type: 'transcript-final' }>;

/** The final transcript of a recording, and the span of speech in it. */
export interface Transcript {
  readonly final: Omit<Final, 'type'>;
  readonly durationMs: number;
  /** Undefined if the VAD found no speech. */
  readonly speech: { readonly startMs: number; readonly endMs: number } | undefined;
}

const threshold = 0.5;
/** VAD windows scored at a time: two seconds of audio. */
const batchWindows = 64;

/** Transcribes a recording as one utterance. The recording must have the recognizer's sample rate. */
export async function transcribe(
  recording: AudioFrame,
  engines: Pick<Engines, 'vad' | 'recognizer'>,
  options: { readonly signal: AbortSignal; readonly language?: string },
): Promise<Transcript> {
  const { vad, recognizer } = engines;
  const windowMs = (vad.windowSamples / vad.sampleRate) * 1000;
  const edges = createVadHysteresis({ threshold, minSpeechMs: 96, minSilenceMs: 96, windowMs });
  const chunks = new Rechunker(vad.windowSamples);
  const windows = chunks.push(recording.samples);
  // The last word may end in the last window, which is only partly filled.
  const rest = chunks.flush();
  if (rest.length > 0) windows.push(Float32Array.from({ length: vad.windowSamples }, (_, index) => rest[index] ?? 0));
  let startMs: number | undefined;
  let endMs = 0;
  const stream = vad.open();
  async function* frames(): AsyncGenerator<AudioFrame> {
    for (let from = 0; from < windows.length; from += batchWindows) {
      options.signal.throwIfAborted();
      const batch = windows.slice(from, from + batchWindows);
      const probabilities = await Promise.all(batch.map((window) => stream.score(window.slice())));
      for (const [index, samples] of batch.entries()) {
        const probability = probabilities[index] ?? 0;
        const edge = edges.push(probability);
        if (edge?.type === 'speech-start') startMs ??= edge.atMs;
        const atMs = (from + index) * windowMs;
        if (edges.speaking && probability >= threshold) endMs = atMs + windowMs;
        yield { samples, sampleRate: vad.sampleRate, atMs, voiced: probability >= threshold };
      }
    }
  }
  let final: Final = { type: 'transcript-final', text: '' };
  try {
    for await (const part of recognizer.transcribe(frames(), options)) {
      if (part.type === 'transcript-final') final = part;
    }
  } finally {
    stream.close();
  }
  return {
    final,
    durationMs: (recording.samples.length / recording.sampleRate) * 1000,
    speech: startMs === undefined ? undefined : { startMs, endMs },
  };
}
