import { endianness } from 'node:os';

/** Tensor of 32-bit floats with its sizes, outermost first. */
export interface FloatTensor {
  readonly sizes: readonly number[];
  readonly values: Float32Array;
}

/** Input or output of a graph. A size is a number, or a name if it is known only when the model runs. */
export interface GraphValue {
  readonly name: string;
  readonly sizes: readonly (number | string)[];
  /** Default: float. */
  readonly type?: keyof typeof valueTypes;
}

/** One operation of the ONNX standard. Attributes are integers or lists of integers; '' is an omitted input. */
export interface GraphNode {
  readonly operation: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes?: Readonly<Record<string, number | readonly number[]>>;
}

/** Graph that `writeOnnx` makes a model from. Constants are floats, or lists of integers. */
export interface OnnxGraph {
  readonly inputs: readonly GraphValue[];
  readonly outputs: readonly GraphValue[];
  readonly nodes: readonly GraphNode[];
  readonly constants: Readonly<Record<string, FloatTensor | readonly number[]>>;
  /** Metadata properties of the model. */
  readonly metadata?: Readonly<Record<string, string | number>>;
}

/** Versions and type codes of `onnx.proto3`. */
const operatorSet = 17;
const intermediateVersion = 8;
const floatType = 1;
const int64Type = 7;
const valueTypes = { float: floatType, int32: 6, int64: int64Type } as const;
const intAttribute = 2;
const intsAttribute = 7;

/** Field of a protobuf message: an integer, or bytes (of a string, a packed list or a nested message). */
interface Field {
  readonly id: number;
  readonly number?: bigint;
  readonly bytes?: Uint8Array;
}

/**
 * Reads the float constants of an ONNX model by name: the weights, anywhere in the graph or in its nested branches.
 * Reads only tensors that the file stores as raw data. Throws a `RangeError` if the bytes are no protobuf message.
 */
export function readOnnxConstants(model: Uint8Array): ReadonlyMap<string, FloatTensor> {
  const found = new Map<string, FloatTensor>();
  const graph = fieldsOf(model).find(({ id }) => id === 7)?.bytes;
  if (graph !== undefined) collectConstants(graph, found);
  return found;
}

function collectConstants(graph: Uint8Array, found: Map<string, FloatTensor>): void {
  for (const { id, bytes } of fieldsOf(graph)) {
    if (bytes === undefined) continue;
    if (id === 5) keepTensor(bytes, undefined, found);
    if (id !== 1) continue;
    const node = fieldsOf(bytes);
    const output = node.find((field) => field.id === 2)?.bytes;
    for (const attribute of node.filter((field) => field.id === 5)) {
      for (const part of fieldsOf(attribute.bytes ?? new Uint8Array(0))) {
        if (part.bytes === undefined) continue;
        if (part.id === 5 && output !== undefined) keepTensor(part.bytes, textOf(output), found);
        if (part.id === 6) collectConstants(part.bytes, found);
      }
    }
  }
}

function keepTensor(message: Uint8Array, name: string | undefined, found: Map<string, FloatTensor>): void {
  const fields = fieldsOf(message);
  const raw = fields.find(({ id }) => id === 9)?.bytes;
  const type = fields.find(({ id }) => id === 2)?.number;
  if (raw === undefined || type !== BigInt(floatType) || endianness() !== 'LE') return;
  const sizes = fields.filter(({ id }) => id === 1).flatMap(({ number, bytes }) => numbersOf(number, bytes));
  // Copied, because floats must begin at a multiple of four.
  const values = new Float32Array(new Uint8Array(raw).buffer, 0, raw.length >> 2);
  found.set(name ?? textOf(fields.find(({ id }) => id === 8)?.bytes ?? new Uint8Array(0)), { sizes, values });
}

function numbersOf(number: bigint | undefined, packed: Uint8Array | undefined): number[] {
  if (number !== undefined) return [Number(number)];
  const numbers: number[] = [];
  const bytes = packed ?? new Uint8Array(0);
  for (let at = 0; at < bytes.length;) {
    const { value, next } = readVarint(bytes, at);
    numbers.push(Number(value));
    at = next;
  }
  return numbers;
}

function fieldsOf(message: Uint8Array): Field[] {
  const fields: Field[] = [];
  let at = 0;
  while (at < message.length) {
    const tag = readVarint(message, at);
    const id = Number(tag.value >> 3n);
    const kind = Number(tag.value & 7n);
    at = tag.next;
    if (kind === 0) {
      const { value, next } = readVarint(message, at);
      fields.push({ id, number: value });
      at = next;
      continue;
    }
    const length = kind === 2 ? readVarint(message, at) : { value: kind === 1 ? 8n : kind === 5 ? 4n : -1n, next: at };
    const end = length.next + Number(length.value);
    if (length.value < 0n || end > message.length) throw new RangeError('this is not a protobuf message');
    fields.push({ id, bytes: message.subarray(length.next, end) });
    at = end;
  }
  return fields;
}

function readVarint(bytes: Uint8Array, start: number): { readonly value: bigint; readonly next: number } {
  let value = 0n;
  for (let at = start, shift = 0n; shift < 70n; at += 1, shift += 7n) {
    const byte = bytes[at];
    if (byte === undefined) break;
    value |= BigInt(byte & 127) << shift;
    if (byte < 128) return { value, next: at + 1 };
  }
  throw new RangeError('this is not a protobuf message');
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString();
}

/** Builds an ONNX model in operator set 17, as `InferenceSession.create` takes it. Nodes must be in execution order. */
export function writeOnnx({ inputs, outputs, nodes, constants, metadata = {} }: OnnxGraph): Uint8Array {
  const graph = Buffer.concat([
    ...nodes.map((node) => message(1, nodeOf(node))),
    message(2, 'graph'),
    ...Object.entries(constants).map(([name, constant]) => message(5, tensorOf(name, constant))),
    ...inputs.map((value) => message(11, valueOf(value))),
    ...outputs.map((value) => message(12, valueOf(value))),
  ]);
  const facts = Object.entries(metadata).map(([key, value]) =>
    message(14, Buffer.concat([message(1, key), message(2, String(value))])),
  );
  return Buffer.concat([whole(1, intermediateVersion), message(8, whole(2, operatorSet)), message(7, graph), ...facts]);
}

function nodeOf({ operation, inputs, outputs, attributes = {} }: GraphNode): Buffer {
  return Buffer.concat([
    ...inputs.map((name) => message(1, name)),
    ...outputs.map((name) => message(2, name)),
    message(4, operation),
    ...Object.entries(attributes).map(([name, value]) => message(5, attributeOf(name, value))),
  ]);
}

function attributeOf(name: string, value: number | readonly number[]): Buffer {
  const parts =
    typeof value === 'number'
      ? [whole(3, value), whole(20, intAttribute)]
      : [...value.map((one) => whole(8, one)), whole(20, intsAttribute)];
  return Buffer.concat([message(1, name), ...parts]);
}

function tensorOf(name: string, constant: FloatTensor | readonly number[]): Buffer {
  if ('values' in constant && 'sizes' in constant) {
    const { sizes, values } = constant;
    const raw = Buffer.from(values.buffer, values.byteOffset, values.byteLength);
    return Buffer.concat([
      ...sizes.map((size) => whole(1, size)),
      whole(2, floatType),
      message(8, name),
      message(9, raw),
    ]);
  }
  const raw = Buffer.from(BigInt64Array.from(constant, (value) => BigInt(value)).buffer);
  return Buffer.concat([whole(1, constant.length), whole(2, int64Type), message(8, name), message(9, raw)]);
}

function valueOf({ name, sizes, type = 'float' }: GraphValue): Buffer {
  const shape = sizes.map((size) => message(1, typeof size === 'number' ? whole(1, size) : message(2, size)));
  const tensor = Buffer.concat([whole(1, valueTypes[type]), message(2, Buffer.concat(shape))]);
  return Buffer.concat([message(1, name), message(2, message(1, tensor))]);
}

function whole(id: number, value: number): Buffer {
  return Buffer.concat([varint(BigInt(id) << 3n), varint(BigInt.asUintN(64, BigInt(value)))]);
}

function message(id: number, content: string | Buffer): Buffer {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  return Buffer.concat([varint((BigInt(id) << 3n) | 2n), varint(BigInt(bytes.length)), bytes]);
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return Buffer.from([...bytes, Number(rest)]);
}
