import { wireSampleRate } from '../../server/protocol/limits.ts';
import { systemClock } from '../../server/session/contract/clock.ts';
import { concatSamples } from '../../voices/audio.ts';
import { resample } from '../../voices/dsp/resampler.ts';
import type { Phrase, SpeechSynthesizer, Voice } from '../../voices/synthesizer.ts';

/** Items as an asynchronous stream. */
export async function* streamOf<Item>(items: Iterable<Item>): AsyncGenerator<Item> {
  yield* items;
}

/** Texts as phrases. */
export function phrasesOf(...texts: readonly string[]): AsyncGenerator<Phrase> {
  return streamOf(texts.map((text) => ({ text })));
}

/** Synthesizes a text with one of our own voices, at the wire's sample rate unless given. */
export async function spoken(
  text: string,
  options: {
    readonly synthesizer: SpeechSynthesizer;
    readonly voice: Voice;
    readonly language?: string;
    readonly sampleRate?: number;
  },
): Promise<Float32Array> {
  const { synthesizer, voice, language, sampleRate = wireSampleRate } = options;
  const { signal } = new AbortController();
  const call = { signal, voice, ...(language === undefined ? {} : { language }) };
  const chunks = await Array.fromAsync(synthesizer.speak(phrasesOf(text), call));
  return resample(concatSamples(chunks.map(({ frame }) => frame.samples)), synthesizer.sampleRate, sampleRate);
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
