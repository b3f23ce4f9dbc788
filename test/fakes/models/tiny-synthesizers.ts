import type { Weights } from '../../../voices/models/weights.ts';
import { castTo, node, tensor, type TinyFiles } from './tiny-model.ts';

type SynthesizerFiles = Readonly<Record<string, Weights>>;

/** Pitches in hertz of the two voices of the tiny VITS. */
export const tinyPitches = [200, 350];
const vitsRate = 16_000;
const letters = "abcdefghijklmnopqrstuvwxyz0123456789 ,.?!'-";

function turnOf(pitch = 0, sampleRate: number): number {
  return (2 * Math.PI * pitch) / sampleRate;
}

/** Graph nodes for a hum: number of samples and phase step per sample in, audio out; one number each, as floats. */
export const humming = {
  nodes: (samples: string, turn: string, sound: string) => [
    node('Squeeze', [samples], ['end']),
    node('Range', ['zero', 'end', 'step'], ['places']),
    node('Mul', ['places', turn], ['angles']),
    node('Sin', ['angles'], ['waves']),
    node('Mul', ['waves', 'loudness'], ['hum']),
    node('Reshape', ['hum', 'soundShape'], [sound]),
  ],
  constants: {
    zero: tensor([]),
    step: tensor([], () => 1),
    loudness: tensor([1], () => 0.3),
    soundShape: [1, 1, -1],
  },
};

/** A VITS that hums 80 ms for each letter, at the pitch of the speaker. */
export async function tinyVits(files: TinyFiles): Promise<SynthesizerFiles> {
  const one = { sizes: [1] };
  const model = await files.onnx('vits.onnx', {
    metadata: {
      sample_rate: vitsRate,
      n_speakers: tinyPitches.length,
      language: 'English',
      comment: 'made by a test',
      frontend: 'characters',
      add_blank: 0,
      use_eos_bos: 0,
    },
    inputs: [
      { name: 'x', sizes: ['N', 'T'], type: 'int64' },
      { name: 'x_length', sizes: ['N'], type: 'int64' },
      ...['noise_scale', 'length_scale', 'noise_scale_w'].map((name) => ({ name, ...one })),
      { name: 'sid', ...one, type: 'int64' },
    ],
    outputs: [{ name: 'y', sizes: ['N', 1, 'S'] }],
    nodes: [
      node('Cast', ['x_length'], ['letters'], castTo.float),
      node('Mul', ['letters', 'samplesEach'], ['usual']),
      node('Mul', ['usual', 'length_scale'], ['long']),
      node('Gather', ['turns', 'sid'], ['turn']),
      ...humming.nodes('long', 'turn', 'y'),
    ],
    constants: {
      ...humming.constants,
      samplesEach: tensor([1], () => 0.08 * vitsRate),
      turns: tensor([tinyPitches.length], (index) => turnOf(tinyPitches[index], vitsRate)),
      loudness: tensor([1], () => 0.3),
      shape: [1, 1, -1],
    },
  });
  const tokens = await files.write(
    'vits-tokens.txt',
    Array.from(letters, (letter, id) => `${letter} ${id}\n`).join(''),
  );
  return { model, tokens };
}

/** English IPA phonemes, as written by eSpeak NG. */
export const phonemes = " ^$_!'(),-.:;?abcdefhijklmnopqrstuvwxyzæðŋɐɑɔəɚɛɜɡɪɹɾʃʊʌʒʔʲˈˌːθᵻ";

export function phonemeList(files: TinyFiles, name: string, between: string): Promise<Weights> {
  return files.write(name, Array.from(phonemes, (sound, id) => `${sound}${between}${id}\n`).join(''));
}

/** A Piper VITS that hums 60 ms for each phoneme of eSpeak NG, at the pitch of the speaker. */
export async function tinyPiper(files: TinyFiles, dataDir: Weights): Promise<SynthesizerFiles> {
  const model = await files.onnx('piper.onnx', {
    metadata: {
      sample_rate: vitsRate,
      n_speakers: tinyPitches.length,
      language: 'English',
      comment: 'piper',
      voice: 'en-us',
      has_espeak: 1,
    },
    inputs: [
      { name: 'input', sizes: ['N', 'T'], type: 'int64' },
      { name: 'input_lengths', sizes: ['N'], type: 'int64' },
      { name: 'scales', sizes: [3] },
      { name: 'sid', sizes: ['N'], type: 'int64' },
    ],
    outputs: [{ name: 'output', sizes: ['N', 1, 'S'] }],
    nodes: [
      node('Cast', ['input_lengths'], ['sounds'], castTo.float),
      node('Gather', ['scales', 'second'], ['length'], { axis: 0 }),
      node('Mul', ['sounds', 'samplesEach'], ['usual']),
      node('Mul', ['usual', 'length'], ['long']),
      node('Gather', ['turns', 'sid'], ['turn']),
      ...humming.nodes('long', 'turn', 'output'),
    ],
    constants: {
      ...humming.constants,
      second: [1],
      samplesEach: tensor([1], () => 0.03 * vitsRate),
      turns: tensor([tinyPitches.length], (index) => turnOf(tinyPitches[index], vitsRate)),
    },
  });
  return { model, tokens: await phonemeList(files, 'piper-tokens.txt', ' '), dataDir };
}

/** A Kokoro (0.19) that hums 60 ms for each phoneme, at the pitch given by its style. */
export async function tinyKokoro(files: TinyFiles, dataDir: Weights): Promise<SynthesizerFiles> {
  const [sampleRate, longest, width] = [24_000, 510, 2];
  const model = await files.onnx('kokoro.onnx', {
    metadata: {
      model_type: 'kokoro',
      sample_rate: sampleRate,
      version: 1,
      n_speakers: tinyPitches.length,
      has_espeak: 1,
      voice: 'en-us',
      style_dim: `${longest},1,${width}`,
    },
    inputs: [
      { name: 'tokens', sizes: [1, 'T'], type: 'int64' },
      { name: 'style', sizes: [1, width] },
      { name: 'speed', sizes: [1] },
    ],
    outputs: [{ name: 'audio', sizes: [1, 1, 'S'] }],
    nodes: [
      node('Size', ['tokens'], ['count']),
      node('Cast', ['count'], ['sounds'], castTo.float),
      node('Mul', ['sounds', 'samplesEach'], ['usual']),
      node('Div', ['usual', 'speed'], ['long']),
      node('ReduceMean', ['style'], ['turn'], { keepdims: 0 }),
      ...humming.nodes('long', 'turn', 'audio'),
    ],
    constants: { ...humming.constants, samplesEach: tensor([1], () => 0.06 * sampleRate) },
  });
  const styles = tinyPitches.flatMap((pitch) => Array<number>(longest * width).fill(turnOf(pitch, sampleRate)));
  const voices = await files.write('voices.bin', new Uint8Array(Float32Array.from(styles).buffer));
  return { model, voices, tokens: await phonemeList(files, 'kokoro-tokens.txt', ' '), dataDir };
}

/** A Matcha that hums 6 frames of 256 samples for each phoneme, at the lower pitch. */
export async function tinyMatcha(files: TinyFiles, dataDir: Weights): Promise<SynthesizerFiles> {
  const [sampleRate, bands] = [22_050, 80];
  const acousticModel = await files.onnx('matcha.onnx', {
    metadata: {
      model_type: 'matcha-tts',
      sample_rate: sampleRate,
      version: 1,
      n_speakers: 1,
      jieba: 0,
      has_espeak: 1,
      use_eos_bos: 0,
      pad_id: 0,
      voice: 'en-us',
    },
    inputs: [
      { name: 'x', sizes: ['N', 'T'], type: 'int64' },
      { name: 'x_length', sizes: ['N'], type: 'int64' },
      { name: 'noise_scale', sizes: [1] },
      { name: 'length_scale', sizes: [1] },
    ],
    outputs: [{ name: 'mel', sizes: ['N', bands, 'L'] }],
    nodes: [
      node('Cast', ['x_length'], ['sounds'], castTo.float),
      node('Mul', ['sounds', 'framesEach'], ['usual']),
      node('Mul', ['usual', 'length_scale'], ['long']),
      node('Cast', ['long'], ['frames'], castTo.int64),
      node('Concat', ['head', 'frames'], ['shape'], { axis: 0 }),
      node('Expand', ['nothing', 'shape'], ['mel']),
    ],
    constants: { framesEach: tensor([1], () => 6), head: [1, bands], nothing: tensor([1, 1, 1]) },
  });
  const vocoder = await files.onnx('hifigan.onnx', {
    metadata: { model_type: 'hifigan', sample_rate: sampleRate },
    inputs: [{ name: 'mel', sizes: ['N', bands, 'L'] }],
    outputs: [{ name: 'audio', sizes: [1, 1, 'S'] }],
    nodes: [
      node('Shape', ['mel'], ['sizes']),
      node('Gather', ['sizes', 'third'], ['frames'], { axis: 0 }),
      node('Cast', ['frames'], ['count'], castTo.float),
      node('Mul', ['count', 'samplesEach'], ['long']),
      ...humming.nodes('long', 'turn', 'audio'),
    ],
    constants: {
      ...humming.constants,
      third: [2],
      samplesEach: tensor([1], () => 256),
      turn: tensor([1], () => turnOf(tinyPitches[0], sampleRate)),
    },
  });
  return { acousticModel, vocoder, tokens: await phonemeList(files, 'matcha-tokens.txt', ' '), dataDir };
}
