import { concatSamples } from '../../voices/audio.ts';
import { fakeSynthesizer } from './synthesizer.ts';
import { voiceLike } from './voice-like.ts';

/** Speaks with a voice-like signal, 100 ms per word; `made` returns all of it, at 24 kHz. */
export function voicedSynthesizer(): ReturnType<typeof fakeSynthesizer> & { made(): Float32Array } {
  const voice = voiceLike(20_000, 24_000);
  const plain = fakeSynthesizer();
  const made: Float32Array[] = [];
  let from = 0;
  return {
    ...plain,
    made: () => concatSamples(made),
    async *speak(phrases, options) {
      for await (const chunk of plain.speak(phrases, options)) {
        const samples = voice.slice(from, from + chunk.frame.samples.length);
        from += samples.length;
        made.push(samples);
        yield { ...chunk, frame: { ...chunk.frame, samples } };
      }
    },
  };
}
