interface Arc {
  readonly from: number;
  readonly to: number;
  /** Bytes read and written; 0 for none. */
  readonly reads: number;
  readonly writes: number;
}

/**
 * A rewrite rule as sherpa-onnx loads it, in the binary format of OpenFst ("vector", "standard"): replaces the character
 * `from` by `to`, and keeps all other bytes.
 */
export function tinyRules(from: string, to: string): Uint8Array {
  const other = Array.from({ length: 255 }, (_, index) => index + 1).filter((byte) => byte !== from.charCodeAt(0));
  const written = [...Buffer.from(to, 'latin1')];
  const arcs: Arc[] = [
    ...other.map((byte) => ({ from: 0, to: 0, reads: byte, writes: byte })),
    ...written.map((byte, index) => ({
      from: index,
      to: (index + 1) % written.length,
      reads: index === 0 ? from.charCodeAt(0) : 0,
      writes: byte,
    })),
  ];
  const states = written.map((_, state) => arcs.filter((arc) => arc.from === state));
  return Buffer.concat([headerOf(states.length, arcs.length), ...states.map(stateOf)]);
}

function headerOf(states: number, arcs: number): Buffer {
  const magic = 2_125_659_606;
  const version = 2;
  const expandedAndMutable = 3;
  return Buffer.concat([
    int32(magic),
    named('vector'),
    named('standard'),
    int32(version),
    int32(0),
    int64(expandedAndMutable),
    int64(0),
    int64(states),
    int64(arcs),
  ]);
}

function stateOf(arcs: readonly Arc[], state: number): Buffer {
  const weights = arcs.map(({ reads, writes, to }) => [int32(reads), int32(writes), float(0), int32(to)]);
  // Only the first state may end the text.
  return Buffer.concat([float(state === 0 ? 0 : Number.POSITIVE_INFINITY), int64(arcs.length), ...weights.flat()]);
}

function named(text: string): Buffer {
  return Buffer.concat([int32(text.length), Buffer.from(text, 'latin1')]);
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
}

function int64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(BigInt(value));
  return bytes;
}

function float(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return bytes;
}
