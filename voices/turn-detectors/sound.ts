import { readFileSync } from 'node:fs';
import type { AudioFrame } from '../audio.ts';
import { frameCount, frameValues, soundFrames } from './sound-frames.ts';
import { mean } from '../dsp/statistics.ts';

/**
 * The sound of an end: two convolutions over pitch, level and spectrum of the last 1.4 s of speech, which hear final
 * lengthening, the fall of the voice and the pace. Trained by `test/bench/endpointing/speech/train.py` on real speech with
 * inner pauses; its speakers and licence are listed there.
 */
const modelUrl = new URL('./sound.bin', import.meta.url);
const magic = 0x31_53_44_54;

/** With fewer frames of 20 ms that have a pitch, there is no speech to judge. */
const leastVoicedFrames = 4;

/** Limit of the logit, 8 % and 92 %: words that hang count, however final they sound. */
const mostLogit = 2.5;

/**
 * Returns the log-odds that the turn is over by its sound alone; 0 with too little voice. Takes a few milliseconds. The audio
 * may have any sample rate from 8 kHz: only what the telephone carries counts.
 */
export function soundLogit({ samples, sampleRate }: Pick<AudioFrame, 'samples' | 'sampleRate'>): number {
  return logitOf(soundFrames({ samples, sampleRate }));
}

/** The same from frames as `soundFrames` makes them. */
export function logitOf(frames: ArrayLike<number>): number {
  const { kept, first, second, out } = (loaded ??= loadModel());
  const heard = Array.from({ length: kept }, (_, index) => {
    const from = (frameCount - kept + index) * frameValues;
    return Float32Array.from({ length: frameValues }, (_, value) => frames[from + value] as number);
  });
  const voiced = heard.reduce((sum, frame) => sum + (frame[1] as number), 0);
  if (!(voiced >= leastVoicedFrames)) return 0;
  const inside = convolved(convolved(heard, first), second);
  const last = inside.at(-1) as Float32Array;
  let logit = out.bias[0] as number;
  for (const [channel, value] of last.entries()) {
    const over = inside.map((one) => one[channel] as number);
    const average = mean(over);
    const at = (place: number): number => out.weights[place * last.length + channel] as number;
    logit += at(0) * average + at(1) * Math.max(...over) + at(2) * value;
  }
  return Number.isFinite(logit) ? Math.max(-mostLogit, Math.min(mostLogit, logit)) : 0;
}

/** One layer: `channels` rows of `inputs` by `width`. */
interface Layer {
  readonly weights: Float32Array;
  readonly bias: Float32Array;
  readonly width: number;
  readonly stride: number;
}

/** Convolves over time and cuts off below 0. */
function convolved(frames: readonly Float32Array[], { weights, bias, width, stride }: Layer): Float32Array[] {
  const count = Math.floor((frames.length - width) / stride) + 1;
  const inputs = weights.length / bias.length / width;
  return Array.from({ length: count }, (_, place) => {
    const next = Float32Array.from(bias);
    for (let step = 0; step < width; step += 1) {
      const frame = frames[place * stride + step] as Float32Array;
      for (let channel = 0; channel < next.length; channel += 1) {
        const row = channel * inputs * width + step;
        let sum = 0;
        for (let input = 0; input < inputs; input += 1) {
          sum += (weights[row + input * width] as number) * (frame[input] as number);
        }
        next[channel] = (next[channel] as number) + sum;
      }
    }
    return next.map((value) => Math.max(0, value));
  });
}

interface SoundModel {
  /** Frames that it looks at, the last ones. */
  readonly kept: number;
  readonly first: Layer;
  readonly second: Layer;
  readonly out: Pick<Layer, 'weights' | 'bias'>;
}

let loaded: SoundModel | undefined;

/** Reads the weights, which `store` in the training program wrote. */
function loadModel(): SoundModel {
  const bytes = new Uint8Array(readFileSync(modelUrl));
  const [kind, values = 0, channels = 0, width = 0, stride = 0, kept = 0] = new Uint32Array(bytes.slice(0, 24).buffer);
  if (kind !== magic || values !== frameValues) {
    throw new Error(`${modelUrl.pathname} does not contain the weights of this detector.`);
  }
  const numbers = new Float32Array(bytes.slice(24).buffer);
  let at = 0;
  const take = (count: number): Float32Array => numbers.subarray(at, (at += count));
  const layer = (inputs: number): Layer => {
    const weights = take(channels * inputs * width);
    return { weights, bias: take(channels), width, stride };
  };
  const [first, second] = [layer(values), layer(channels)];
  const weights = take(3 * channels);
  return { kept, first, second, out: { weights, bias: take(1) } };
}
