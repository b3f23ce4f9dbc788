import type { Weights } from '../../../voices/models/weights.ts';
import { humming, phonemeList } from './tiny-synthesizers.ts';
import { castTo, node, tensor, type TinyFiles } from './tiny-model.ts';

type Mouth = Readonly<Record<string, Weights>>;

const [features, bins] = [100, 513];

/**
 * A ZipVoice whose speech has the mean spectrum of the clip: 8 frames of 256 samples for each phoneme of eSpeak NG, at
 * 24 kHz.
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
      // After the end of the clip, the values are zero.
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
  const tokens = await phonemeList(files, 'zipvoice-tokens.txt', '\t');
  const lexicon = await files.write('zipvoice-lexicon.txt', '好 h a\n');
  return { encoder, decoder, vocoder, tokens, lexicon, dataDir };
}

const [wide, narrow] = [1_024, 32];

/** A Pocket-TTS that hums 80 ms for each letter, at the pitch of the clip's hum. */
export async function tinyPocket(files: TinyFiles): Promise<Mouth> {
  // Change of a sine per sample: the mean of its differences over its own mean.
  const encoder = await files.onnx('pocket-encoder.onnx', {
    inputs: [{ name: 'audio', sizes: [1, 1, 'S'] }],
    outputs: [{ name: 'embedding', sizes: [1, 1, wide] }],
    nodes: [
      node('Slice', ['audio', 'first', 'end', 'axis'], ['later']),
      node('Slice', ['audio', 'start', 'last', 'axis'], ['earlier']),
      node('Sub', ['later', 'earlier'], ['steps']),
      node('Abs', ['steps'], ['stepSizes']),
      node('Abs', ['earlier'], ['sizes']),
      node('ReduceMean', ['stepSizes'], ['step'], { axes: [2], keepdims: 1 }),
      node('ReduceMean', ['sizes'], ['size'], { axes: [2], keepdims: 1 }),
      node('Div', ['step', 'size'], ['turn']),
      node('Expand', ['turn', 'shape'], ['embedding']),
    ],
    constants: { start: [0], first: [1], last: [-1], end: [1e9], axis: [2], shape: [1, 1, wide] },
  });
  const textConditioner = await files.onnx('pocket-text.onnx', {
    inputs: [{ name: 'token_ids', sizes: [1, 'L'], type: 'int64' }],
    outputs: [{ name: 'embeddings', sizes: [1, 'L', wide] }],
    nodes: [
      node('Shape', ['token_ids'], ['sizes']),
      node('Concat', ['sizes', 'wide'], ['shape'], { axis: 0 }),
      node('Expand', ['nothing', 'shape'], ['embeddings']),
    ],
    constants: { wide: [wide], nothing: tensor([1, 1, 1]) },
  });
  // Its state: the amount of text left, and the voice.
  const lmMain = await files.onnx('pocket-main.onnx', {
    inputs: [
      { name: 'sequence', sizes: [1, 's', narrow] },
      { name: 'text_embeddings', sizes: [1, 't', wide] },
      { name: 'left', sizes: [1] },
      { name: 'voice', sizes: [1] },
    ],
    outputs: [
      { name: 'conditioning', sizes: [1, narrow] },
      { name: 'eos_logit', sizes: [1] },
      { name: 'new_left', sizes: [1] },
      { name: 'new_voice', sizes: [1] },
    ],
    nodes: [
      node('Shape', ['sequence'], ['spoken']),
      node('Gather', ['spoken', 'second'], ['spokenFrames'], { axis: 0 }),
      node('Shape', ['text_embeddings'], ['told']),
      node('Gather', ['told', 'second'], ['toldTokens'], { axis: 0 }),
      node('Sub', ['toldTokens', 'spokenFrames'], ['more']),
      node('Cast', ['more'], ['change'], castTo.float),
      node('Add', ['left', 'change'], ['new_left']),
      node('Mul', ['new_left', 'against'], ['eos_logit']),
      node('ReduceSum', ['text_embeddings'], ['sum'], { keepdims: 0 }),
      node('Div', ['sum', 'width'], ['heard']),
      node('Add', ['voice', 'heard'], ['new_voice']),
      node('Expand', ['new_voice', 'shape'], ['conditioning']),
    ],
    constants: {
      second: [1],
      against: tensor([1], () => -10),
      width: tensor([1], () => wide),
      shape: [1, narrow],
    },
  });
  const lmFlow = await files.onnx('pocket-flow.onnx', {
    inputs: [
      { name: 'c', sizes: [1, narrow] },
      { name: 's', sizes: [1, 1] },
      { name: 't', sizes: [1, 1] },
      { name: 'x', sizes: [1, narrow] },
    ],
    outputs: [{ name: 'flow', sizes: [1, narrow] }],
    nodes: [
      node('Sub', ['c', 'x'], ['way']),
      node('Sub', ['one', 's'], ['rest']),
      node('Div', ['way', 'rest'], ['flow']),
    ],
    constants: { one: tensor([1], () => 1) },
  });
  const decoder = await files.onnx('pocket-decoder.onnx', {
    inputs: [
      { name: 'latent', sizes: [1, 'k', narrow] },
      { name: 'memory', sizes: [1] },
    ],
    outputs: [
      { name: 'audio', sizes: [1, 1, 'S'] },
      { name: 'new_memory', sizes: [1] },
    ],
    nodes: [
      node('Shape', ['latent'], ['sizes']),
      node('Gather', ['sizes', 'second'], ['frames'], { axis: 0 }),
      node('Cast', ['frames'], ['count'], castTo.float),
      node('Mul', ['count', 'samplesEach'], ['long']),
      node('ReduceMean', ['latent'], ['turn'], { keepdims: 0 }),
      ...humming.nodes('long', 'turn', 'audio'),
      node('Identity', ['memory'], ['new_memory']),
    ],
    constants: { ...humming.constants, second: [1], samplesEach: tensor([1], () => 1_920) },
  });
  const bytes = Array.from({ length: 256 }, (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`);
  const vocabulary = JSON.stringify(Object.fromEntries(bytes.map((token, id) => [token, id])));
  const scores = JSON.stringify(Object.fromEntries(bytes.map((token) => [token, -1])));
  return {
    encoder,
    decoder,
    textConditioner,
    lmMain,
    lmFlow,
    vocabJson: await files.write('pocket-vocab.json', vocabulary),
    tokenScoresJson: await files.write('pocket-scores.json', scores),
  };
}
