import { writeFile } from 'node:fs/promises';
import { visemes, type Viseme } from '../../../voices/synthesizer.ts';
import { openEspeak } from '../../../voices/synthesizers/espeak.ts';
import { openFlite } from '../../../voices/synthesizers/flite.ts';
import { frameBands } from '../../../voices/visemes/mel-frames.ts';
import {
  evaluateNetwork,
  inputSize,
  layerSizes,
  networkInput,
  readNetwork,
  storeNetwork,
  type NetworkLayer,
} from '../../../voices/visemes/sound-network.ts';
import { randomFrom } from '../kit/random.ts';
import { labelled, linesOfCharacters, speakLines, type TrainingVoice } from './voiced-lines.ts';

/** The voice that is never trained on: figures are taken from it. */
export const unheardVoice = 'slt';

const [out = 'voices/visemes/sound.bin', epochs = '4', framesEach = '16000'] = process.argv.slice(2);
const random = randomFrom(22);
const batch = 32;
/** Share of hidden neurons that an example does without. */
const dropped = 0.15;
const fastest = 0.0015;
/** Closures are short and rare, and are missed first. */
const weightOf = (label: Viseme): number => (label === 'PP' || label === 'FF' ? 1.3 : label === 'sil' ? 0.8 : 1);

interface Trained extends NetworkLayer {
  readonly slope: Float32Array;
  readonly slopeOfBias: Float32Array;
  readonly moments: readonly [Float32Array, Float32Array, Float32Array, Float32Array];
}

const layers = layerSizes.slice(1).map((neurons, index): Trained => {
  const inputs = layerSizes[index] as number;
  const scale = Math.sqrt(6 / inputs) / (index === layerSizes.length - 2 ? 3 : 1);
  const weights = Float32Array.from({ length: neurons * inputs }, () => scale * (2 * random() - 1));
  const zeros = (length: number): Float32Array => new Float32Array(length);
  const [size, bias] = [weights.length, zeros(neurons)];
  return {
    weights,
    bias,
    slope: zeros(size),
    slopeOfBias: zeros(neurons),
    moments: [zeros(size), zeros(size), zeros(neurons), zeros(neurons)],
  };
});

const examples: { frames: Float32Array[]; labels: number[] }[] = [];
const trainedOn: [number, number][] = [];
await gather();
let step = 0;
const steps = (Number(epochs) * trainedOn.length) / batch;
for (let epoch = 0; epoch < Number(epochs); epoch += 1) {
  shuffle(trainedOn);
  let loss = 0;
  for (let from = 0; from + batch <= trainedOn.length; from += batch) {
    for (const [line, index] of trainedOn.slice(from, from + batch)) loss += learn(line, index);
    adjust();
  }
  console.log(`epoch ${epoch + 1}: loss ${(loss / trainedOn.length).toFixed(3)}`);
  await writeFile(out, storeNetwork(layers));
}
await judge();

/** Speaks other lines with every voice but the unheard one. */
async function gather(): Promise<void> {
  const flite = openFlite();
  const espeak = openEspeak();
  const voices: TrainingVoice[] = [
    { engine: flite, id: 'rms' },
    { engine: flite, id: 'awb' },
    { engine: flite, id: 'kal16' },
    { engine: flite, id: 'awb', pitch: 1.4, timbre: 1.1 },
    { engine: flite, id: 'rms', timbre: 1.15 },
    { engine: flite, id: 'rms', timbre: 1.25 },
    { engine: flite, id: 'kal16', timbre: 1.1, pitch: 1.5 },
    { engine: flite, id: 'kal16', timbre: 1.2, pitch: 1.3 },
    { engine: flite, id: 'awb', timbre: 1.2, pitch: 1.2 },
    { engine: espeak, id: 'en-us+f2' },
  ];
  for (const [place, voice] of voices.entries()) {
    const lines = await linesOfCharacters(160 + 40 * place, 560 + 40 * place);
    const line = examples.length;
    let count = 0;
    for await (const spoken of speakLines(voice, lines)) {
      const { frames, labels } = labelled(spoken);
      examples.push({ frames, labels: labels.map((label) => visemes.indexOf(label)) });
      for (const index of frames.keys()) trainedOn.push([examples.length - 1, index]);
      count += frames.length;
      if (count >= Number(framesEach)) break;
    }
    console.log(`${voice.id}: ${count} frames of ${examples.length - line} lines`);
  }
  await Promise.all([flite.close(), espeak.close()]);
}

function shuffle(items: unknown[]): void {
  for (let index = items.length - 1; index > 0; index -= 1) {
    const other = Math.floor(random() * (index + 1));
    [items[index], items[other]] = [items[other], items[index]];
  }
}

/** Adds the slopes of one example; returns its loss. */
function learn(line: number, index: number): number {
  const { frames, labels } = examples[line] as (typeof examples)[number];
  const label = labels[index] as number;
  const input = new Float32Array(inputSize);
  networkInput(frames, index, input);
  vary(input);
  const values: Float32Array[] = [input];
  for (const [depth, { weights, bias }] of layers.entries()) {
    const before = values[depth] as Float32Array;
    const next = new Float32Array(bias.length);
    for (let neuron = 0; neuron < next.length; neuron += 1) {
      let sum = bias[neuron] as number;
      const row = neuron * before.length;
      for (let place = 0; place < before.length; place += 1)
        sum += (weights[row + place] as number) * (before[place] as number);
      const isHidden = depth < layers.length - 1;
      next[neuron] = isHidden && (sum < 0 || random() < dropped) ? 0 : isHidden ? sum / (1 - dropped) : sum;
    }
    values.push(next);
  }
  const logits = values.at(-1) as Float32Array;
  const most = logits.reduce((highest, one) => Math.max(highest, one), -Infinity);
  const total = logits.reduce((sum, one) => sum + Math.exp(one - most), 0);
  const weight = weightOf(visemes[label] as Viseme);
  let error = logits.map((one, place) => weight * (Math.exp(one - most) / total - (place === label ? 1 : 0)));
  const loss = Math.log(total) - ((logits[label] as number) - most);
  for (let depth = layers.length - 1; depth >= 0; depth -= 1) {
    const { weights, slope, slopeOfBias } = layers[depth] as Trained;
    const before = values[depth] as Float32Array;
    const below = new Float32Array(before.length);
    for (let neuron = 0; neuron < error.length; neuron += 1) {
      const one = error[neuron] as number;
      if (one === 0) continue;
      slopeOfBias[neuron] = (slopeOfBias[neuron] as number) + one;
      const row = neuron * before.length;
      for (let place = 0; place < before.length; place += 1) {
        slope[row + place] = (slope[row + place] as number) + one * (before[place] as number);
        if (depth > 0) below[place] = (below[place] as number) + one * (weights[row + place] as number);
      }
    }
    error = below.map((one, place) => ((before[place] as number) > 0 ? one / (1 - dropped) : 0));
  }
  return loss;
}

/** Another loudness, microphone and vocal tract: the same for all frames that are seen. */
function vary(input: Float32Array): void {
  const [gain, tilt, warp] = [0.4 * (random() - 0.5), 0.6 * (random() - 0.5), 0.1 * (random() - 0.5)];
  for (let from = 0; from < input.length; from += frameBands) {
    const frame = input.slice(from, from + frameBands);
    for (let band = 0; band < frameBands; band += 1) {
      const place = Math.min(frameBands - 1, band * (1 + warp));
      const [low, share] = [Math.floor(place), place % 1];
      const value = (1 - share) * (frame[low] as number) + share * (frame[Math.min(frameBands - 1, low + 1)] as number);
      const heard = value + gain + tilt * (band / frameBands - 0.5) + 0.3 * (random() + random() - 1);
      input[from + band] = Math.max(-2.34, heard);
    }
  }
}

/** One step of Adam. */
function adjust(): void {
  step += 1;
  const rate = fastest * Math.min(1, step / 200) * (0.02 + 0.98 * 0.5 * (1 + Math.cos((Math.PI * step) / steps)));
  const scale = Math.sqrt(1 - 0.999 ** step) / (1 - 0.9 ** step);
  const move = (values: Float32Array, slopes: Float32Array, first: Float32Array, second: Float32Array): void => {
    for (let place = 0; place < values.length; place += 1) {
      const slope = (slopes[place] as number) / batch;
      slopes[place] = 0;
      const average = (first[place] = 0.9 * (first[place] as number) + 0.1 * slope);
      const square = (second[place] = 0.999 * (second[place] as number) + 0.001 * slope * slope);
      values[place] = (values[place] as number) - (rate * scale * average) / (Math.sqrt(square) + 1e-7);
    }
  };
  for (const { weights, bias, slope, slopeOfBias, moments } of layers) {
    move(weights, slope, moments[0], moments[1]);
    move(bias, slopeOfBias, moments[2], moments[3]);
  }
}

/** Prints the share of frames of the unheard voice whose shape is found. */
async function judge(): Promise<void> {
  const flite = openFlite();
  const stored = readNetwork(storeNetwork(layers));
  const input = new Float32Array(inputSize);
  let [right, count] = [0, 0];
  for await (const line of speakLines({ engine: flite, id: unheardVoice }, await linesOfCharacters(0, 60))) {
    const { frames, labels } = labelled(line);
    for (const [index, label] of labels.entries()) {
      networkInput(frames, index, input);
      const shares = evaluateNetwork(stored, input);
      right += visemes[shares.indexOf(Math.max(...shares))] === label ? 1 : 0;
      count += 1;
    }
  }
  console.log(`${unheardVoice}: ${((100 * right) / count).toFixed(1)} % of ${count} frames`);
  await flite.close();
}
