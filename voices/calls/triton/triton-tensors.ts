import { badReply, type Upstream } from '../http-faults.ts';

/** One input of a model: 32-bit numbers, or a text. */
export interface InputTensor {
  readonly name: string;
  readonly data: Float32Array | Int32Array | string;
}

/** An output tensor of a model, in wire format. */
export interface WireTensor {
  readonly name: string;
  readonly datatype: string;
  readonly shape: readonly number[];
  readonly contents: { readonly fp32Contents?: readonly number[]; readonly bytesContents?: readonly Buffer[] } | null;
}

/** One response of a model, in wire format. */
export interface WireAnswer {
  readonly outputs: readonly WireTensor[];
  readonly rawOutputContents: readonly Buffer[];
}

/** Inputs of a request, as a batch of one. Texts have the shape 1 × 1, numbers 1 × their count. */
export function wireInputs(inputs: readonly InputTensor[]): object {
  return {
    inputs: inputs.map(({ name, data }) => ({
      name,
      datatype: typeof data === 'string' ? 'BYTES' : data instanceof Float32Array ? 'FP32' : 'INT32',
      shape: [1, typeof data === 'string' ? 1 : data.length],
    })),
    rawInputContents: inputs.map(({ data }) => rawOf(data)),
  };
}

function rawOf(data: InputTensor['data']): Buffer {
  if (typeof data !== 'string') return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const text = Buffer.from(data, 'utf8');
  const length = Buffer.alloc(4);
  length.writeUInt32LE(text.length);
  return Buffer.concat([length, text]);
}

/** Samples in the output `name`, as 32-bit floats. Anything else is `ENGINE_BAD_REPLY`. */
export function samplesIn(answer: WireAnswer, name: string, upstream: Upstream): Float32Array {
  const { tensor, raw } = outputOf(answer, name, 'FP32', upstream);
  const listed = tensor.contents?.fp32Contents ?? [];
  if (raw === undefined) return Float32Array.from(listed);
  const count = tensor.shape.reduce((product, length) => product * length, 1);
  if (raw.length !== count * 4) throw badReply(upstream, `a tensor of ${raw.length} bytes for ${count} samples`);
  return Float32Array.from({ length: count }, (_, index) => {
    const value = raw.readFloatLE(index * 4);
    return Number.isFinite(value) ? value : 0;
  });
}

/** Text in the output `name`, the first if there are several. Anything else is `ENGINE_BAD_REPLY`. */
export function textIn(answer: WireAnswer, name: string, upstream: Upstream): string {
  const { tensor, raw } = outputOf(answer, name, 'BYTES', upstream);
  if (raw === undefined) return tensor.contents?.bytesContents?.[0]?.toString('utf8') ?? '';
  const length = raw.length < 4 ? Number.POSITIVE_INFINITY : raw.readUInt32LE(0);
  if (raw.length < 4 + length) throw badReply(upstream, 'a truncated text');
  return raw.toString('utf8', 4, 4 + length);
}

function outputOf(
  { outputs, rawOutputContents }: WireAnswer,
  name: string,
  datatype: string,
  upstream: Upstream,
): { readonly tensor: WireTensor; readonly raw: Buffer | undefined } {
  const index = outputs.findIndex((output) => output.name === name);
  const tensor = outputs[index];
  if (tensor === undefined) throw badReply(upstream, `no output "${name}"`);
  if (tensor.datatype !== datatype) throw badReply(upstream, `"${name}" as something other than ${datatype}`);
  return { tensor, raw: rawOutputContents[index] };
}
