import type { Weights } from '../../../voices/models/weights.ts';
import { castTo, node, tensor, tokenList, winners, type TinyFiles } from './tiny-model.ts';

type RecognizerFiles = Readonly<Record<string, Weights>>;

const chunkFrames = 16;
/** Threshold on the log energy: below that of any sound, above that of silence, which is -16. */
const quiet = 8;

/** A streaming Zipformer that recognizes these words, one for each 320 ms that are not silent. */
export async function tinyZipformer(files: TinyFiles, words: readonly string[]): Promise<RecognizerFiles> {
  const tokens = ['<blk>', ...words.map((word) => `▁${word}`)];
  const size = tokens.length;
  // One chunk for each word, in its first frame; nothing is recognized after the last.
  const said = [...words.map((_, index) => index + 1), 0].flatMap((id) => [id, ...Array(chunkFrames - 1).fill(0)]);
  const states = [
    { name: 'cached_key_0', sizes: [1, 'N', 1] },
    { name: 'cached_nonlin_attn_0', sizes: [1, 'N', 1, 3] },
    { name: 'cached_val1_0', sizes: [1, 'N', 1] },
    { name: 'cached_val2_0', sizes: [1, 'N', 1] },
    { name: 'cached_conv1_0', sizes: ['N', 4, 1] },
    { name: 'cached_conv2_0', sizes: ['N', 4, 1] },
    { name: 'embed_states', sizes: ['N', 128, 3, 19] },
    { name: 'processed_lens', sizes: ['N'], type: 'int64' as const },
  ];
  const encoder = await files.onnx('encoder.onnx', {
    metadata: {
      model_type: 'zipformer2',
      version: 1,
      T: 45,
      decode_chunk_len: 32,
      encoder_dims: 4,
      query_head_dims: 1,
      value_head_dims: 1,
      num_heads: 1,
      num_encoder_layers: 1,
      cnn_module_kernels: 3,
      left_context_len: 1,
    },
    inputs: [{ name: 'x', sizes: ['N', 45, 80] }, ...states],
    outputs: [
      { name: 'encoder_out', sizes: ['N', chunkFrames, size] },
      ...states.map((state) => ({ ...state, name: `new_${state.name}` })),
    ],
    nodes: [
      node('ReduceMax', ['x'], ['loudest'], { axes: [1, 2], keepdims: 1 }),
      node('Add', ['loudest', 'quiet'], ['above']),
      node('Sigmoid', ['above'], ['gate']),
      node('Div', ['processed_lens', 'frames'], ['chunk']),
      node('Min', ['chunk', 'last'], ['known']),
      node('Gather', ['said', 'known'], ['scores']),
      node('Mul', ['scores', 'gate'], ['encoder_out']),
      node('Round', ['gate'], ['voiced']),
      node('Cast', ['voiced'], ['steps'], castTo.int64),
      node('Reshape', ['steps', 'flat'], ['counted']),
      node('Mul', ['counted', 'frames'], ['added']),
      node('Add', ['processed_lens', 'added'], ['new_processed_lens']),
      ...states.slice(0, -1).map(({ name }) => node('Identity', [name], [`new_${name}`])),
    ],
    constants: {
      quiet: tensor([1], () => quiet),
      frames: [chunkFrames],
      last: [words.length],
      flat: [-1],
      said: { ...winners(size, said), sizes: [words.length + 1, chunkFrames, size] },
    },
  });
  const decoder = await files.onnx('decoder.onnx', {
    metadata: { vocab_size: size, context_size: 2 },
    inputs: [{ name: 'y', sizes: ['N', 2], type: 'int64' }],
    outputs: [{ name: 'decoder_out', sizes: ['N', size] }],
    nodes: [node('Cast', ['y'], ['before'], castTo.float), node('MatMul', ['before', 'nothing'], ['decoder_out'])],
    constants: { nothing: tensor([2, size]) },
  });
  const joiner = await files.onnx('joiner.onnx', {
    metadata: { joiner_dim: size },
    inputs: [
      { name: 'encoder_out', sizes: ['N', size] },
      { name: 'decoder_out', sizes: ['N', size] },
    ],
    outputs: [{ name: 'logit', sizes: ['N', size] }],
    nodes: [node('Add', ['encoder_out', 'decoder_out'], ['joined']), node('Add', ['joined', 'blank'], ['logit'])],
    constants: { blank: tensor([size], (index) => (index === 0 ? 0.5 : 0)) },
  });
  return { encoder, decoder, joiner, tokens: await files.write('tokens.txt', tokenList(tokens)) };
}

/** A SenseVoice that recognizes these words in English, whatever the audio. */
export async function tinySenseVoice(files: TinyFiles, words: readonly string[]): Promise<RecognizerFiles> {
  const tokens = ['<unk>', '<|en|>', '<|NEUTRAL|>', '<|Speech|>', '<|withitn|>', ...words.map((word) => `▁${word}`)];
  const longest = 500;
  const said = [1, 2, 3, 4, ...words.map((_, index) => index + 5)];
  const model = await files.onnx('sense-voice.onnx', {
    metadata: {
      vocab_size: tokens.length,
      blank_id: 0,
      lfr_window_size: 7,
      lfr_window_shift: 6,
      normalize_samples: 0,
      with_itn: 14,
      without_itn: 15,
      lang_auto: 0,
      lang_zh: 3,
      lang_en: 4,
      lang_yue: 7,
      lang_ja: 11,
      lang_ko: 12,
      neg_mean: Array(560).fill(0).join(','),
      inv_stddev: Array(560).fill(1).join(','),
      comment: 'made by a test',
    },
    inputs: [
      { name: 'x', sizes: ['N', 'T', 560] },
      { name: 'x_length', sizes: ['N'], type: 'int32' },
      { name: 'language', sizes: ['N'], type: 'int32' },
      { name: 'text_norm', sizes: ['N'], type: 'int32' },
    ],
    outputs: [{ name: 'logits', sizes: ['N', 'frames', tokens.length] }],
    nodes: [
      node('Cast', ['x_length'], ['length'], castTo.int64),
      node('Add', ['length', 'prompt'], ['end']),
      node('Slice', ['said', 'begin', 'end', 'axis'], ['logits']),
    ],
    constants: {
      prompt: [4],
      begin: [0],
      axis: [1],
      said: {
        ...winners(
          tokens.length,
          Array.from({ length: longest }, (_, index) => said[index] ?? 0),
        ),
        sizes: [1, longest, tokens.length],
      },
    },
  });
  return { model, tokens: await files.write('tokens.txt', tokenList(tokens)) };
}

/** A Whisper that recognizes these words in English, whatever the audio. */
export async function tinyWhisper(files: TinyFiles, words: readonly string[]): Promise<RecognizerFiles> {
  const special = [
    'sot',
    'eot',
    'translate',
    'transcribe',
    'no_timestamps',
    'no_speech',
    'blank_id',
    '<|en|>',
    '<|zh|>',
  ];
  const id = (name: string): number => special.indexOf(name);
  const size = special.length + words.length;
  const [layers, context, width] = [1, 24, 2];
  const prompt = ['sot', '<|en|>', 'transcribe', 'no_timestamps'];
  // After the first token it outputs the language, after the last token of the prompt the first word.
  const said = Array.from({ length: context }, (_, place) => {
    const word = place - prompt.length + 1;
    if (place === 0) return id('<|en|>');
    return word >= 0 && word < words.length ? special.length + word : id('eot');
  });
  const cross = ['n_layer_cross_k', 'n_layer_cross_v'].map((name) => ({ name, sizes: [layers, 'N', 'T', width] }));
  const encoder = await files.onnx('encoder.onnx', {
    metadata: {
      n_mels: 80,
      n_text_layer: layers,
      n_text_ctx: context,
      n_text_state: width,
      n_vocab: size,
      ...Object.fromEntries(special.slice(0, 7).map((name) => [name, id(name)])),
      is_multilingual: 1,
      sot_sequence: prompt.slice(0, 3).map(id).join(','),
      all_language_tokens: [id('<|en|>'), id('<|zh|>')].join(','),
      all_language_codes: 'en,zh',
    },
    inputs: [{ name: 'mel', sizes: ['N', 80, 'T'] }],
    outputs: cross,
    nodes: [
      node('ReduceMean', ['mel'], ['mean'], { axes: [1], keepdims: 0 }),
      node('Unsqueeze', ['mean', 'outer'], ['one']),
      node('Concat', ['one', 'one'], [cross[0]?.name ?? ''], { axis: 3 }),
      node('Identity', [cross[0]?.name ?? ''], [cross[1]?.name ?? '']),
    ],
    constants: { outer: [0, 3] },
  });
  const caches = ['k', 'v'].map((part) => `n_layer_self_${part}_cache`);
  const cacheSizes = [layers, 'N', context, width];
  const decoder = await files.onnx('decoder.onnx', {
    inputs: [
      { name: 'tokens', sizes: ['N', 'n'], type: 'int64' },
      ...caches.map((name) => ({ name: `in_${name}`, sizes: cacheSizes })),
      ...cross,
      { name: 'offset', sizes: [1], type: 'int64' },
    ],
    outputs: [
      { name: 'logits', sizes: ['N', 'n', size] },
      ...caches.map((name) => ({ name: `out_${name}`, sizes: cacheSizes })),
    ],
    nodes: [
      node('Shape', ['tokens'], ['sizes']),
      node('Gather', ['sizes', 'second'], ['count'], { axis: 0 }),
      node('Add', ['offset', 'count'], ['end']),
      node('Slice', ['said', 'offset', 'end', 'second'], ['logits']),
      ...caches.map((name) => node('Identity', [`in_${name}`], [`out_${name}`])),
    ],
    constants: { second: [1], said: { ...winners(size, said), sizes: [1, context, size] } },
  });
  const text = [...special, ...words.map((word) => ` ${word}`)]
    .map((token, place) => `${Buffer.from(token).toString('base64')} ${place}\n`)
    .join('');
  return { encoder, decoder, tokens: await files.write('tokens.txt', text) };
}

/** A streaming Paraformer that recognizes these words, one for each window of 0.6 s that is not silent. */
export async function tinyParaformer(files: TinyFiles, words: readonly string[]): Promise<RecognizerFiles> {
  // Windows of 10 frames, preceded by the last 8; a word is found in the middle one.
  const [window, before, middle, width] = [18, 8, 7, 1];
  const tokens = ['<blank>', ...words];
  const encoder = await files.onnx('paraformer-encoder.onnx', {
    metadata: {
      vocab_size: tokens.length,
      lfr_window_size: 7,
      lfr_window_shift: 6,
      encoder_output_size: width,
      decoder_num_blocks: 1,
      decoder_kernel_size: 2,
      neg_mean: Array(560).fill(0).join(','),
      inv_stddev: Array(560).fill(1).join(','),
    },
    inputs: [
      { name: 'speech', sizes: ['N', 'T', 560] },
      { name: 'speech_lengths', sizes: ['N'], type: 'int32' },
    ],
    outputs: [
      { name: 'enc', sizes: ['N', 'T', width] },
      { name: 'enc_len', sizes: ['N'], type: 'int32' },
      { name: 'alphas', sizes: ['N', 'T'] },
    ],
    nodes: [
      node('Slice', ['speech', 'before', 'window', 'axis'], ['fresh']),
      node('ReduceMax', ['fresh'], ['loudest'], { axes: [1, 2], keepdims: 0 }),
      node('Add', ['loudest', 'quiet'], ['above']),
      node('Sigmoid', ['above'], ['gate']),
      node('Round', ['gate'], ['voiced']),
      node('Mul', ['voiced', 'place'], ['alphas']),
      node('ReduceMean', ['speech'], ['enc'], { axes: [2], keepdims: 1 }),
      node('Identity', ['speech_lengths'], ['enc_len']),
    ],
    constants: {
      before: [before],
      window: [window],
      axis: [1],
      quiet: tensor([1], () => quiet),
      place: tensor([1, window], (index) => (index === middle ? 1 : 0)),
    },
  });
  const decoder = await files.onnx('paraformer-decoder.onnx', {
    inputs: [
      { name: 'enc', sizes: ['N', 'T', width] },
      { name: 'enc_len', sizes: ['N'], type: 'int32' },
      { name: 'acoustic_embeds', sizes: ['N', 'L', width] },
      { name: 'acoustic_embeds_len', sizes: ['N'], type: 'int32' },
      { name: 'in_cache_0', sizes: ['N', width, 1] },
    ],
    outputs: [
      { name: 'logits', sizes: ['N', 'L', width] },
      { name: 'sample_ids', sizes: ['N', 'L'], type: 'int64' },
      { name: 'out_cache_0', sizes: ['N', width, 1] },
    ],
    nodes: [
      node('Identity', ['acoustic_embeds'], ['logits']),
      node('Cast', ['in_cache_0'], ['said'], castTo.int64),
      node('Min', ['said', 'last'], ['known']),
      node('Gather', ['ids', 'known'], ['found']),
      node('Reshape', ['found', 'shape'], ['sample_ids']),
      node('Add', ['in_cache_0', 'one'], ['out_cache_0']),
    ],
    constants: {
      last: [words.length],
      ids: [...words.map((_, index) => index + 1), 0],
      shape: [1, -1],
      one: tensor([1], () => 1),
    },
  });
  return { encoder, decoder, tokens: await files.write('paraformer-tokens.txt', tokenList(tokens)) };
}
