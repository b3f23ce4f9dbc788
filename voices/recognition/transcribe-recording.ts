import { Rechunker, type AudioFrame } from '../audio.ts';
import type { CallOptions } from '../engine.ts';
import type { SpeechRecognizer, TranscriptPart } from '../recognizer.ts';
import type { Vad } from '../vad.ts';

/** VAD result for a recording. */
export interface VoiceActivity {
  /** Windows of `windowMs`; an incomplete last window is left out. */
  readonly windows: readonly Float32Array[];
  readonly windowMs: number;
  /** Speech probability of each window, 0 to 1. */
  readonly probabilities: readonly number[];
}

/** Windows scored at a time: a few seconds, so that a long recording is not in memory twice. */
const windowsAtATime = 512;
const speechFrom = 0.5;

/** Scores each window of a recording. The samples must be at the VAD's sample rate. */
export async function detectVoice(samples: Float32Array, vad: Vad, { signal }: CallOptions): Promise<VoiceActivity> {
  const windows = new Rechunker(vad.windowSamples).push(samples);
  const stream = vad.open();
  const probabilities: number[] = [];
  try {
    for (let start = 0; start < windows.length; start += windowsAtATime) {
      signal.throwIfAborted();
      const part = windows.slice(start, start + windowsAtATime);
      probabilities.push(...(await Promise.all(part.map((window) => stream.score(window)))));
    }
  } finally {
    stream.close();
  }
  return { windows, windowMs: (vad.windowSamples / vad.sampleRate) * 1000, probabilities };
}

/** Transcribes a recording at the recognizer's sample rate; undefined if there is no final transcript. */
export async function transcribeRecording(
  { windows, windowMs, probabilities }: VoiceActivity,
  recognizer: SpeechRecognizer,
  options: CallOptions & { readonly language?: string },
): Promise<Extract<TranscriptPart, { readonly type: 'transcript-final' }> | undefined> {
  async function* frames(): AsyncIterable<AudioFrame> {
    for (const [index, samples] of windows.entries()) {
      const voiced = (probabilities[index] ?? 0) >= speechFrom;
      yield { samples, sampleRate: recognizer.sampleRate, atMs: index * windowMs, voiced };
    }
  }
  for await (const part of recognizer.transcribe(frames(), options)) {
    if (part.type === 'transcript-final') return part;
  }
  return undefined;
}
