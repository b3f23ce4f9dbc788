import { Queue } from '../../../voices/runtime/streams.ts';
import type { AudioFrame } from '../../../voices/audio.ts';
import { openMoonshine } from '../../../voices/recognizers/moonshine.ts';
import { resample } from '../../../voices/dsp/resampler.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { utterances } from '../kit/recordings.ts';
import { summarize, type BenchRow } from '../kit/stats.ts';

const windowSamples = 512;
const windowMs = 32;
const endpointMs = 500;

/**
 * Time to the final transcript after the endpoint (500 ms of silence after speech), with decoding ahead during the
 * silence. The baseline is the same utterances passed in one piece.
 */
export async function* run(): AsyncIterable<BenchRow> {
  const recognizer = openMoonshine({});
  const signal = new AbortController().signal;
  await recognizer.warm(signal);
  const clips = await utterances(500, { minMs: 700, maxMs: 10_000 });
  const ahead: number[] = [];
  const whole: number[] = [];
  for (const clip of clips) {
    const samples = resample(clip.samples, 24_000, 16_000);
    const frames = framesOf(samples);
    ahead.push(await finalAfter(recognizer, frames, true, signal));
    whole.push(await finalAfter(recognizer, frames, false, signal));
  }
  await recognizer.close();
  yield summarize('recognizer', 'endpoint → final, fed at the pace of speech', 'ms', ahead);
  yield summarize('recognizer', 'end → final, handed over at once (baseline)', 'ms', whole);
}

function framesOf(samples: Float32Array): AudioFrame[] {
  const spoken = Math.floor(samples.length / windowSamples);
  const total = spoken + Math.ceil(endpointMs / windowMs);
  return Array.from({ length: total }, (_, index) => {
    const window = new Float32Array(windowSamples);
    window.set(samples.subarray(index * windowSamples, Math.min(samples.length, (index + 1) * windowSamples)));
    // The clips have 250 ms of silence at each side.
    const voiced = index >= 8 && index < spoken - 8;
    return { samples: window, sampleRate: 16_000, atMs: index * windowMs, voiced };
  });
}

async function finalAfter(
  recognizer: ReturnType<typeof openMoonshine>,
  frames: readonly AudioFrame[],
  paced: boolean,
  signal: AbortSignal,
): Promise<number> {
  const audio = new Queue<AudioFrame>();
  let endedMs = 0;
  const feeding = (async () => {
    const startMs = performance.now();
    for (const [index, frame] of frames.entries()) {
      audio.push(frame);
      const waitMs = startMs + (index + 1) * windowMs - performance.now();
      if (paced && waitMs > 0) await sleep(waitMs);
    }
    endedMs = performance.now();
    audio.end();
  })();
  for await (const part of recognizer.transcribe(audio, { signal })) {
    if (part.type === 'transcript-final') break;
  }
  await feeding;
  return performance.now() - endedMs;
}
