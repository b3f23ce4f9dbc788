import type { Weights } from '../../voices/calls/weights.ts';
import { castTo, node, tensor, type TinyFiles } from './tiny-model.ts';

type Mouth = Readonly<Record<string, Weights>>;

/** Hertz, of the two voices of the tiny VITS. */
export const tinyPitches = [200, 350];
const vitsRate = 16_000;
const letters = "abcdefghijklmnopqrstuvwxyz0123456789 ,.?!'-";

/** A VITS that hums 80 ms for each letter, at the pitch of the speaker. */
export async function tinyVits(files: TinyFiles): Promise<Mouth> {
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
      node('Squeeze', ['long'], ['end']),
      node('Range', ['zero', 'end', 'step'], ['places']),
      node('Gather', ['turns', 'sid'], ['turn']),
      node('Mul', ['places', 'turn'], ['angles']),
      node('Sin', ['angles'], ['waves']),
      node('Mul', ['waves', 'loudness'], ['hum']),
      node('Reshape', ['hum', 'shape'], ['y']),
    ],
    constants: {
      samplesEach: tensor([1], () => 0.08 * vitsRate),
      zero: tensor([]),
      step: tensor([], () => 1),
      turns: tensor([tinyPitches.length], (index) => (2 * Math.PI * (tinyPitches[index] ?? 0)) / vitsRate),
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

/** Letters of the phonetic alphabet in English, as eSpeak NG writes them. */
const phonemes = " !'(),-.:;?abcdefhijklmnopqrstuvwxyzæðŋɐɑɔəɚɛɜɡɪɹɾʃʊʌʒʔʲˈˌːθᵻ";
const [features, bins] = [100, 513];

/**
 * A ZipVoice whose speech has the mean spectrum of the clip, 8 frames of 256 samples for each sound at 24 kHz, told by eSpeak NG.
 */
export async function tinyZipvoice(files: TinyFiles, dataDir: Weights): Promise<Mouth> {
  const frames = { name: 'text_condition', sizes: ['N', 'T', features] };
  const encoder = await files.onnx('zipvoice-encoder.onnx', {
    metadata: { use_espeak: 1, use_pinyin: 1 },
    inputs: [
      { name: 'tokens', sizes: ['N', 'L'], type: 'int64' },
      { name: 'prompt_tokens', sizes: ['N', 'P'], type: 'int64' },
      { name: 'prompt_features_len', sizes: [1], type: 'int64' },
      { name: 'speed', sizes: [1] },
    ],
    outputs: [frames],
    nodes: [
      node('Shape', ['tokens'], ['sizes']),
      node('Gather', ['sizes', 'second'], ['sounds'], { axis: 0 }),
      node('Cast', ['sounds'], ['count'], castTo.float),
      node('Mul', ['count', 'framesEach'], ['usual']),
      node('Div', ['usual', 'speed'], ['long']),
      node('Cast', ['long'], ['own'], castTo.int64),
      node('Add', ['own', 'prompt_features_len'], ['all']),
      node('Concat', ['single', 'all', 'features'], ['shape'], { axis: 0 }),
      node('Expand', ['nothing', 'shape'], ['text_condition']),
    ],
    constants: {
      second: [1],
      framesEach: tensor([1], () => 8),
      single: [1],
      features: [features],
      nothing: tensor([1, 1, 1]),
    },
  });
  const decoder = await files.onnx('zipvoice-decoder.onnx', {
    metadata: { version: 1, model_author: 'a test', feat_dim: features, sample_rate: 24_000 },
    inputs: [
      { name: 't', sizes: [1] },
      { name: 'x', sizes: ['N', 'T', features] },
      frames,
      { name: 'speech_condition', sizes: ['N', 'T', features] },
      { name: 'guidance_scale', sizes: [1] },
    ],
    outputs: [{ name: 'v', sizes: ['N', 'T', features] }],
    nodes: [
      // Where the clip is over there is nothing.
      node('ReduceSum', ['speech_condition', 'second'], ['clip'], { keepdims: 1 }),
      node('Div', ['clip', 'length'], ['mean']),
      node('Sub', ['mean', 'x'], ['way']),
      node('Sub', ['one', 't'], ['rest']),
      node('Div', ['way', 'rest'], ['v']),
    ],
    constants: { second: [1], length: tensor([1], () => 300), one: tensor([1], () => 1) },
  });
  const parts = ['mag', 'x', 'y'];
  const vocoder = await files.onnx('vocos.onnx', {
    metadata: { model_type: 'vocos', n_fft: 1024, hop_length: 256, win_length: 1024 },
    inputs: [{ name: 'mels', sizes: ['N', features, 'T'] }],
    outputs: parts.map((name) => ({ name, sizes: ['N', bins, 'T'] })),
    nodes: [
      node('Gather', ['mels', 'bands'], ['spectrum'], { axis: 1 }),
      node('Mul', ['spectrum', 'contrast'], ['sharp']),
      node('Softmax', ['sharp'], ['shares'], { axis: 1 }),
      node('Mul', ['shares', 'loudness'], ['mag']),
      node('Mul', ['spectrum', 'nothing'], ['y']),
      node('Add', ['y', 'signs'], ['x']),
    ],
    constants: {
      bands: Array.from({ length: bins }, (_, bin) => Math.min(features - 1, Math.floor(bin / 5))),
      contrast: tensor([1], () => 20),
      loudness: tensor([1], () => 300),
      nothing: tensor([1]),
      // A pulse in the middle of each frame.
      signs: tensor([1, bins, 1], (bin) => (bin % 2 === 0 ? 1 : -1)),
    },
  });
  const tokens = await files.write(
    'zipvoice-tokens.txt',
    Array.from(phonemes)
      .map((sound, id) => `${sound}\t${id}\n`)
      .join(''),
  );
  const lexicon = await files.write('zipvoice-lexicon.txt', '好 h a\n');
  return { encoder, decoder, vocoder, tokens, lexicon, dataDir };
}
