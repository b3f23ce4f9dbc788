import { kaldiFbank, subtractMean } from '../dsp/fbank.ts';
import { mean } from '../dsp/statistics.ts';

/** Input of a speaker model. */
export interface ModelInput {
  readonly values: Float32Array<ArrayBuffer>;
  /** Sizes of one item, without the batch dimension. */
  readonly sizes: readonly number[];
}

/** Input and output conventions of one family of speaker models. */
export interface FrontEnd {
  /** Input names used by its exports. */
  readonly inputs: readonly string[];
  readonly output: string;
  /** Computes the model input from mono samples at 16 kHz. */
  prepare(samples: Float32Array): ModelInput;
}

export type FrontEndName = 'campplus' | 'wavlm-large-sv';

/** Front end of each family; a model's family is recognized by its input and output names. */
export const frontEnds: Readonly<Record<FrontEndName, FrontEnd>> = {
  /** CAM++ (input `feature` in 3D-Speaker, `x` in sherpa): 80 fbank bands of samples in [-1, 1], minus the mean. */
  campplus: {
    inputs: ['x', 'feature'],
    output: 'embedding',
    prepare(samples) {
      const { frames, bands, values } = subtractMean(kaldiFbank(samples));
      return { values, sizes: [frames, bands] };
    },
  },
  /** WavLM-large with ECAPA (Seed-TTS-eval's SIM): the waveform with mean 0 and variance 1, as by `layer_norm`. */
  'wavlm-large-sv': {
    inputs: ['wav'],
    output: 'embedding',
    prepare: (samples) => ({ values: normalized(samples), sizes: [samples.length] }),
  },
};

/** Returns the family of a model by its inputs and outputs; undefined if it is unknown. */
export function frontEndOf(
  inputs: readonly string[],
  outputs: readonly string[],
): { readonly name: FrontEndName; readonly input: string } | undefined {
  for (const [name, { inputs: known, output }] of Object.entries(frontEnds)) {
    const input =
      inputs.length === 1 && outputs.includes(output) ? known.find((each) => each === inputs[0]) : undefined;
    if (input !== undefined) return { name: name as FrontEndName, input };
  }
  return undefined;
}

const leastVariance = 1e-5;

function normalized(samples: Float32Array): Float32Array<ArrayBuffer> {
  const center = mean(samples);
  const variance = samples.reduce((sum, value) => sum + (value - center) ** 2, 0) / samples.length;
  const scale = 1 / Math.sqrt(variance + leastVariance);
  return Float32Array.from(samples, (value) => (value - center) * scale);
}
