/** A voice-like signal: harmonics of a varying pitch, louder and softer. */
export function voiceLike(ms: number, sampleRate: number): Float32Array {
  return Float32Array.from({ length: (ms * sampleRate) / 1000 }, (_, index) => {
    const seconds = index / sampleRate;
    const phase = 2 * Math.PI * (140 * seconds - 2 * Math.cos(5 * seconds));
    const loudness = 0.12 * (1.2 + Math.sin(9 * seconds));
    return (
      loudness * (Math.sin(phase) + 0.6 * Math.sin(2 * phase) + 0.4 * Math.sin(5 * phase) + 0.2 * Math.sin(9 * phase))
    );
  });
}

/** Signal-to-noise ratio in decibels, at the delay with the best match: a codec delays the signal. */
export function signalToNoise(original: Float32Array, decoded: Float32Array, mostDelay: number): number {
  let best = -Infinity;
  const length = original.length - mostDelay;
  for (let delay = 0; delay < mostDelay; delay += 1) {
    let noise = 0;
    let signal = 0;
    for (let index = 0; index < length; index += 1) {
      const sample = original[index] ?? 0;
      noise += ((decoded[index + delay] ?? 0) - sample) ** 2;
      signal += sample * sample;
    }
    best = Math.max(best, 10 * Math.log10(signal / noise));
  }
  return best;
}

/** The same white noise every time, between -1 and 1 unless given. */
export function whiteNoise(length: number, amplitude = 1, seed = 7): Float32Array {
  let state = seed;
  return Float32Array.from({ length }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return amplitude * (state / 2 ** 31 - 1);
  });
}
