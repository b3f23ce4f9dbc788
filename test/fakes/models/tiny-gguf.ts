/** Type codes of the GGUF format. */
const types = { uint32: 4, int32: 5, float32: 6, string: 8, array: 9 } as const;
const kinds = { normal: 1, unknown: 2, control: 3, byte: 6 } as const;
const alignment = 32;

type Value =
  | { readonly uint32: number }
  | { readonly float32: number }
  | { readonly string: string }
  | { readonly strings: readonly string[] }
  | { readonly floats: readonly number[] }
  | { readonly ints: readonly number[] };

interface Tensor {
  readonly name: string;
  /** Innermost first. */
  readonly sizes: readonly number[];
  readonly values: Float32Array;
}

const chatTemplate =
  "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

const width = 64;
const hidden = 32;

/**
 * A one-layer Llama that ignores context: after the newline that ends a ChatML prompt it outputs `pieces`, then stops.
 * Text outside the pieces is tokenized byte by byte. No piece may occur twice.
 */
export function tinyGguf(pieces: readonly string[], options: { readonly neverEnds?: boolean } = {}): Buffer {
  const special = ['<unk>', '<s>', '</s>', '<|im_start|>', '<|im_end|>'];
  const bytes = Array.from({ length: 256 }, (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`);
  const tokens = [...special, ...bytes, ...pieces.map((piece) => piece.replaceAll(' ', '▁'))];
  const firstPiece = special.length + bytes.length;
  const end = special.indexOf('<|im_end|>');
  const next = tokens.map((_, id) => {
    if (id === special.length + 10) return firstPiece;
    if (id < firstPiece) return undefined;
    return id + 1 < tokens.length ? id + 1 : options.neverEnds === true ? firstPiece : end;
  });
  const embedding = randomRows(tokens.length);
  const output = new Float32Array(embedding.length);
  for (const [id, follower] of next.entries()) {
    if (follower === undefined) continue;
    for (let column = 0; column < width; column += 1) {
      output[follower * width + column] =
        (output[follower * width + column] ?? 0) + (embedding[id * width + column] ?? 0);
    }
  }
  const metadata: Record<string, Value> = {
    'general.architecture': { string: 'llama' },
    'general.name': { string: 'made by a test' },
    'llama.context_length': { uint32: 32_768 },
    'llama.embedding_length': { uint32: width },
    'llama.block_count': { uint32: 1 },
    'llama.feed_forward_length': { uint32: hidden },
    'llama.attention.head_count': { uint32: 2 },
    'llama.attention.head_count_kv': { uint32: 2 },
    'llama.attention.layer_norm_rms_epsilon': { float32: 1e-5 },
    'llama.rope.dimension_count': { uint32: width / 2 },
    'llama.vocab_size': { uint32: tokens.length },
    'tokenizer.ggml.model': { string: 'llama' },
    'tokenizer.ggml.tokens': { strings: tokens },
    'tokenizer.ggml.scores': { floats: tokens.map((_, id) => -id) },
    'tokenizer.ggml.token_type': {
      ints: tokens.map((_, id) => {
        if (id === 0) return kinds.unknown;
        return id < special.length ? kinds.control : id < firstPiece ? kinds.byte : kinds.normal;
      }),
    },
    'tokenizer.ggml.bos_token_id': { uint32: 1 },
    'tokenizer.ggml.eos_token_id': { uint32: end },
    'tokenizer.ggml.unknown_token_id': { uint32: 0 },
    'tokenizer.chat_template': { string: chatTemplate },
  };
  return gguf(metadata, [
    { name: 'token_embd.weight', sizes: [width, tokens.length], values: embedding },
    { name: 'output.weight', sizes: [width, tokens.length], values: output },
    { name: 'output_norm.weight', sizes: [width], values: new Float32Array(width).fill(1) },
    ...['attn_norm', 'ffn_norm'].map((name) => layer(name, [width], 1)),
    ...['attn_q', 'attn_k', 'attn_v', 'attn_output'].map((name) => layer(name, [width, width], 0)),
    ...['ffn_gate', 'ffn_up'].map((name) => layer(name, [width, hidden], 0)),
    layer('ffn_down', [hidden, width], 0),
  ]);
}

/** A layer that adds nothing to the residual stream: attention and feed-forward output zeros. */
function layer(name: string, sizes: readonly number[], value: number): Tensor {
  const length = sizes.reduce((product, size) => product * size, 1);
  return { name: `blk.0.${name}.weight`, sizes, values: new Float32Array(length).fill(value) };
}

/** Random vectors far from each other, the same each time. */
function randomRows(count: number): Float32Array {
  let state = 1;
  const random = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  return Float32Array.from({ length: count * width }, () => random() + random() + random() - 1.5);
}

function gguf(metadata: Readonly<Record<string, Value>>, tensors: readonly Tensor[]): Buffer {
  const data: Buffer[] = [];
  const infos: Buffer[] = [];
  let offset = 0;
  for (const { name, sizes, values } of tensors) {
    infos.push(text(name), uint32(sizes.length), ...sizes.map(uint64), uint32(0), uint64(offset));
    const bytes = padded(Buffer.from(values.buffer, values.byteOffset, values.byteLength));
    data.push(bytes);
    offset += bytes.length;
  }
  const pairs = Object.entries(metadata).map(([key, value]) => Buffer.concat([text(key), valueOf(value)]));
  const head = [Buffer.from('GGUF'), uint32(3), uint64(tensors.length), uint64(pairs.length), ...pairs, ...infos];
  return Buffer.concat([padded(Buffer.concat(head)), ...data]);
}

function valueOf(value: Value): Buffer {
  if ('uint32' in value) return Buffer.concat([uint32(types.uint32), uint32(value.uint32)]);
  if ('float32' in value) return Buffer.concat([uint32(types.float32), floats([value.float32])]);
  if ('string' in value) return Buffer.concat([uint32(types.string), text(value.string)]);
  if ('strings' in value) return list(types.string, value.strings.length, Buffer.concat(value.strings.map(text)));
  if ('floats' in value) return list(types.float32, value.floats.length, floats(value.floats));
  return list(types.int32, value.ints.length, Buffer.from(Int32Array.from(value.ints).buffer));
}

function list(type: number, length: number, items: Buffer): Buffer {
  return Buffer.concat([uint32(types.array), uint32(type), uint64(length), items]);
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([uint64(bytes.length), bytes]);
}

function floats(values: readonly number[]): Buffer {
  return Buffer.from(Float32Array.from(values).buffer);
}

function uint32(value: number): Buffer {
  return Buffer.from(Uint32Array.of(value).buffer);
}

function uint64(value: number): Buffer {
  return Buffer.from(BigUint64Array.of(BigInt(value)).buffer);
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc((alignment - (bytes.length % alignment)) % alignment)]);
}
