import { createHash } from 'node:crypto';

const magic = 0x43_50_44_47;
const formatVersion = 2;
/** Magic, format, three parts of the version, flags, base, 16 reserved words, number of files. */
const headerBytes = 4 * 5 + 4 + 8 + 16 * 4 + 4;
const alignment = 16;

/** Writes a pack file of Godot 4, format 2: `files` by path, without `res://`. */
export function writePack(files: ReadonlyMap<string, Buffer>): Buffer {
  const entries = [...files].map(([name, data]) => {
    const path = Buffer.from(`res://${name}`);
    return { path: Buffer.concat([path, Buffer.alloc(padding(path.length, 4))]), data };
  });
  const tableBytes = entries.reduce((sum, { path }) => sum + 4 + path.length + 8 + 8 + 16 + 4, 0);
  const start = headerBytes + tableBytes;
  let offset = start + padding(start, alignment);
  const header = Buffer.alloc(headerBytes);
  header.writeUInt32LE(magic, 0);
  header.writeUInt32LE(formatVersion, 4);
  header.writeUInt32LE(4, 8);
  header.writeUInt32LE(entries.length, headerBytes - 4);
  const table: Buffer[] = [];
  const contents: Buffer[] = [Buffer.alloc(offset - start)];
  for (const { path, data } of entries) {
    const row = Buffer.alloc(4 + path.length + 36);
    row.writeUInt32LE(path.length, 0);
    path.copy(row, 4);
    row.writeBigUInt64LE(BigInt(offset), 4 + path.length);
    row.writeBigUInt64LE(BigInt(data.length), 12 + path.length);
    createHash('md5')
      .update(data)
      .digest()
      .copy(row, 20 + path.length);
    table.push(row);
    contents.push(data, Buffer.alloc(padding(data.length, alignment)));
    offset += data.length + padding(data.length, alignment);
  }
  return Buffer.concat([header, ...table, ...contents]);
}

function padding(length: number, to: number): number {
  return (to - (length % to)) % to;
}
