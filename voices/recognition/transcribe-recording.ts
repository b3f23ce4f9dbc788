import { Rechunker, type AudioFrame } from '../audio.ts';
import type { CallOptions } from '../engine.ts';
import type { SpeechRecognizer, TranscriptPart } from '../recognizer.ts';
import type { Vad } from '../vad.ts';

/** What the voice detector makes of a recording. */
export interface VoiceActivity {
  /** Windows of `windowMs`; what fills no whole one at the end is left out. */
  readonly windows: readonly Float32Array[];
  readonly windowMs: number;
  /** Of speech in each window, 0 to 1. */
  readonly probabilities: readonly number[];
}

/** How many windows the detector is given at a time: some seconds, so that a long recording does not fill the memory twice. */
const windowsAtATime = 512;
const speechFrom = 0.5;

/** Scores each window of a recording at the detector's rate. */
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

/** What is said in a recording at the recognizer's rate; undefined where it gives no final. */
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
