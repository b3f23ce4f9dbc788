import { wireSampleRate } from '../../server/protocol/limits.ts';
import { systemClock } from '../../server/session/contract/clock.ts';
import { concatSamples } from '../../voices/audio.ts';
import { resample } from '../../voices/dsp/resampler.ts';
import type { SpeechSynthesizer, Voice } from '../../voices/synthesizer.ts';

/** Synthesizes a user utterance with one of our own voices, at the wire's sample rate. */
export async function spoken(
  text: string,
  { synthesizer, voice }: { readonly synthesizer: SpeechSynthesizer; readonly voice: Voice },
): Promise<Float32Array> {
  async function* phrases(): AsyncIterable<{ text: string }> {
    yield { text };
  }
  const blocks: Float32Array[] = [];
  const { signal } = new AbortController();
  for await (const { frame } of synthesizer.speak(phrases(), { signal, voice })) blocks.push(frame.samples);
  return resample(concatSamples(blocks), synthesizer.sampleRate, wireSampleRate);
}

/** Sends audio in blocks of 40 ms, in real time like a microphone. */
export async function atThePaceOfSpeech(samples: Float32Array, send: (piece: Float32Array) => void): Promise<void> {
  const { signal } = new AbortController();
  const pieceSamples = (wireSampleRate * 40) / 1000;
  const startMs = systemClock.now();
  for (let end = pieceSamples; end - pieceSamples < samples.length; end += pieceSamples) {
    const dueMs = startMs + (end / wireSampleRate) * 1000;
    await systemClock.sleep(Math.max(0, dueMs - systemClock.now()), signal);
    send(samples.subarray(end - pieceSamples, end));
  }
}
