/**
 * Kaldi's fbank in its textbook form: a DFT by definition, everything recomputed for each frame. The baseline for ours.
 */
export function naiveFbank(samples: Float32Array): number[][] {
  const mel = (hertz: number): number => 1127 * Math.log(1 + hertz / 700);
  const frames: number[][] = [];
  for (let start = 0; start + 400 <= samples.length; start += 160) {
    const raw = [...samples.subarray(start, start + 400)];
    const mean = raw.reduce((sum, value) => sum + value, 0) / 400;
    const centred = raw.map((value) => value - mean);
    const windowed = centred.map((value, index) => {
      const emphasized = value - 0.97 * (centred[Math.max(0, index - 1)] as number);
      return emphasized * (0.5 - 0.5 * Math.cos((2 * Math.PI * index) / 399)) ** 0.85;
    });
    const power = Array.from({ length: 256 }, (_, bin) => {
      let [real, imaginary] = [0, 0];
      for (const [index, value] of windowed.entries()) {
        real += value * Math.cos((2 * Math.PI * bin * index) / 512);
        imaginary -= value * Math.sin((2 * Math.PI * bin * index) / 512);
      }
      return real * real + imaginary * imaginary;
    });
    const [low, high] = [mel(20), mel(8_000)];
    frames.push(
      Array.from({ length: 80 }, (_, band) => {
        const edge = (index: number): number => low + ((high - low) * index) / 81;
        const energy = power.reduce((sum, value, bin) => {
          const place = mel((bin * 16_000) / 512);
          const left = (place - edge(band)) / (edge(band + 1) - edge(band));
          const right = (edge(band + 2) - place) / (edge(band + 2) - edge(band + 1));
          return sum + Math.max(0, Math.min(left, right)) * value;
        }, 0);
        return Math.log(Math.max(energy, 1.1920929e-7));
      }),
    );
  }
  return frames;
}

/** The kernel of our resampler, recomputed for every tap of every sample. */
export function naiveResample(samples: Float32Array, from: number, to: number): Float32Array {
  const bandwidth = (Math.min(from, to) * 0.99) / from;
  const reach = Math.ceil(6 / bandwidth);
  return Float32Array.from({ length: Math.ceil((samples.length * to) / from) }, (_, index) => {
    const place = (index * from) / to;
    let sum = 0;
    for (let at = Math.ceil(place - reach); at <= place + reach; at += 1) {
      const crossings = (at - place) * bandwidth;
      if (Math.abs(crossings) >= 6) continue;
      const sinc = crossings === 0 ? 1 : Math.sin(Math.PI * crossings) / (Math.PI * crossings);
      sum += (samples[at] ?? 0) * sinc * Math.cos((Math.PI * crossings) / 12) ** 2 * bandwidth;
    }
    return sum;
  });
}
