/** Result of a WASI command: its exit code, the text it printed, and the bytes of every file it wrote. */
export interface CommandResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly files: ReadonlyMap<string, Uint8Array>;
}

/** Loaded command, good for one run: its memory cannot be reset. */
export interface WasiCommand {
  /** Runs to the end, blocking. `args[0]` is the program's name. Throws what the module throws when it traps. */
  run(args: readonly string[]): CommandResult;
}

/**
 * Loads a WASI preview 1 command whose only directory, `/`, is in memory and starts empty. It can print, and write
 * files there; it has no input, clock or environment, and cannot touch the machine. Only what a batch tool such as
 * Flite needs is implemented: a module that imports more fails to load with a `WebAssembly.LinkError`.
 */
export function loadWasiCommand(module: WebAssembly.Module): WasiCommand {
  const system = new MemorySystem();
  const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: system.imports() });
  const { memory, _start: start } = instance.exports as { memory: WebAssembly.Memory; _start: () => void };
  return { run: (args) => system.run(memory, start, args) };
}

const SUCCESS = 0;
const BAD_FILE = 8;
const INVALID = 28;
const NO_ENTRY = 44;
const ILLEGAL_SEEK = 70;
const STDOUT = 1;
const ROOT = 3;
const FIRST_FILE = 4;
const CHARACTER_DEVICE = 2;
const DIRECTORY = 3;
const REGULAR_FILE = 4;
const CREATE = 1;
const TRUNCATE = 8;
const APPEND = 1;

/** Thrown to leave the module when it exits; never seen outside. */
class Exit {
  readonly code: number;
  constructor(code: number) {
    this.code = code;
  }
}

/** A file that grows as it is written. */
class MemoryFile {
  length = 0;
  #bytes = new Uint8Array(65_536);

  get contents(): Uint8Array {
    return this.#bytes.slice(0, this.length);
  }

  write(at: number, block: Uint8Array): void {
    const end = at + block.length;
    if (end > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(end, this.#bytes.length * 2));
      grown.set(this.#bytes);
      this.#bytes = grown;
    }
    this.#bytes.set(block, at);
    this.length = Math.max(this.length, end);
  }

  read(at: number, bytes: number): Uint8Array {
    return this.#bytes.subarray(Math.min(at, this.length), Math.min(at + bytes, this.length));
  }
}

interface OpenFile {
  readonly file: MemoryFile;
  readonly append: boolean;
  at: number;
}

class MemorySystem {
  readonly #files = new Map<string, MemoryFile>();
  readonly #open = new Map<number, OpenFile>();
  readonly #printed = new MemoryFile();
  #args: readonly Uint8Array[] = [];
  #memory: WebAssembly.Memory | undefined;
  #nextDescriptor = FIRST_FILE;

  run(memory: WebAssembly.Memory, start: () => void, args: readonly string[]): CommandResult {
    this.#memory = memory;
    this.#args = args.map((arg) => Buffer.from(`${arg.replaceAll('\0', ' ')}\0`));
    let exitCode = 0;
    try {
      start();
    } catch (thrown) {
      if (!(thrown instanceof Exit)) throw thrown;
      exitCode = thrown.code;
    }
    const files = new Map([...this.#files].map(([path, file]) => [path, file.contents]));
    return { exitCode, stdout: Buffer.from(this.#printed.contents).toString('utf8'), files };
  }

  imports(): Record<string, (...values: never[]) => number> {
    return {
      args_sizes_get: (countAt: number, bytesAt: number) => this.#argSizes(countAt, bytesAt),
      args_get: (pointersAt: number, bytesAt: number) => this.#argValues(pointersAt, bytesAt),
      clock_time_get: (_clock: number, _precision: bigint, timeAt: number) => this.#put64(timeAt, 0n),
      fd_close: (descriptor: number) => (this.#open.delete(descriptor) ? SUCCESS : BAD_FILE),
      fd_fdstat_get: (descriptor: number, statAt: number) => this.#stat(descriptor, statAt),
      fd_fdstat_set_flags: () => SUCCESS,
      fd_prestat_get: (descriptor: number, statAt: number) => this.#rootStat(descriptor, statAt),
      fd_prestat_dir_name: (_descriptor: number, nameAt: number) => {
        this.#bytes()[nameAt] = '/'.charCodeAt(0);
        return SUCCESS;
      },
      fd_read: (descriptor: number, vectorsAt: number, count: number, doneAt: number) =>
        this.#read(descriptor, vectorsAt, count, doneAt),
      fd_seek: (descriptor: number, offset: bigint, whence: number, newAt: number) =>
        this.#seek(descriptor, Number(offset), whence, newAt),
      fd_write: (descriptor: number, vectorsAt: number, count: number, doneAt: number) =>
        this.#write(descriptor, vectorsAt, count, doneAt),
      path_open: (...values: number[]) => this.#openPath(values),
      proc_exit: (code: number) => {
        throw new Exit(code);
      },
    };
  }

  #bytes(): Uint8Array {
    return new Uint8Array((this.#memory as WebAssembly.Memory).buffer);
  }

  #view(): DataView {
    return new DataView((this.#memory as WebAssembly.Memory).buffer);
  }

  #put64(at: number, value: bigint): number {
    this.#view().setBigUint64(at, value, true);
    return SUCCESS;
  }

  #argSizes(countAt: number, bytesAt: number): number {
    this.#view().setUint32(countAt, this.#args.length, true);
    const bytes = this.#args.reduce((sum, arg) => sum + arg.length, 0);
    this.#view().setUint32(bytesAt, bytes, true);
    return SUCCESS;
  }

  #argValues(pointersAt: number, bytesAt: number): number {
    let at = bytesAt;
    for (const [index, arg] of this.#args.entries()) {
      this.#view().setUint32(pointersAt + index * 4, at, true);
      this.#bytes().set(arg, at);
      at += arg.length;
    }
    return SUCCESS;
  }

  #stat(descriptor: number, statAt: number): number {
    const known = descriptor <= ROOT || this.#open.has(descriptor);
    if (!known) return BAD_FILE;
    const kind = descriptor < ROOT ? CHARACTER_DEVICE : descriptor === ROOT ? DIRECTORY : REGULAR_FILE;
    this.#bytes().fill(0, statAt, statAt + 24);
    this.#bytes()[statAt] = kind;
    // All rights: the C library refuses operations that the rights do not list.
    this.#put64(statAt + 8, 0xffff_ffff_ffff_ffffn);
    return this.#put64(statAt + 16, 0xffff_ffff_ffff_ffffn);
  }

  #rootStat(descriptor: number, statAt: number): number {
    if (descriptor !== ROOT) return BAD_FILE;
    this.#view().setUint32(statAt, 0, true);
    this.#view().setUint32(statAt + 4, 1, true);
    return SUCCESS;
  }

  *#vectors(vectorsAt: number, count: number): Generator<Uint8Array> {
    for (let index = 0; index < count; index += 1) {
      const at = this.#view().getUint32(vectorsAt + index * 8, true);
      const bytes = this.#view().getUint32(vectorsAt + index * 8 + 4, true);
      yield this.#bytes().subarray(at, at + bytes);
    }
  }

  #write(descriptor: number, vectorsAt: number, count: number, doneAt: number): number {
    const open = this.#open.get(descriptor);
    if (open === undefined && (descriptor < STDOUT || descriptor >= ROOT)) return BAD_FILE;
    let written = 0;
    for (const block of this.#vectors(vectorsAt, count)) {
      if (open !== undefined) {
        if (open.append) open.at = open.file.length;
        open.file.write(open.at, block);
        open.at += block.length;
      } else if (descriptor === STDOUT) {
        this.#printed.write(this.#printed.length, block);
      }
      written += block.length;
    }
    this.#view().setUint32(doneAt, written, true);
    return SUCCESS;
  }

  #read(descriptor: number, vectorsAt: number, count: number, doneAt: number): number {
    const open = this.#open.get(descriptor);
    let bytes = 0;
    for (const block of this.#vectors(vectorsAt, count)) {
      const found = open?.file.read(open.at, block.length) ?? new Uint8Array(0);
      block.set(found);
      if (open !== undefined) open.at += found.length;
      bytes += found.length;
    }
    this.#view().setUint32(doneAt, bytes, true);
    return SUCCESS;
  }

  #seek(descriptor: number, offset: number, whence: number, newAt: number): number {
    const open = this.#open.get(descriptor);
    if (open === undefined) return descriptor < ROOT ? ILLEGAL_SEEK : BAD_FILE;
    const at = offset + ([0, open.at, open.file.length][whence] ?? 0);
    if (at < 0) return INVALID;
    open.at = at;
    return this.#put64(newAt, BigInt(at));
  }

  /** Values: directory, lookup flags, path, path length, open flags, rights, inherited rights, flags, result. */
  #openPath(values: readonly number[]): number {
    const [, , pathAt = 0, pathBytes = 0, flags = 0, , , descriptorFlags = 0, resultAt = 0] = values;
    const path = Buffer.from(this.#bytes().slice(pathAt, pathAt + pathBytes)).toString('utf8');
    let file = this.#files.get(path);
    if (file === undefined && (flags & CREATE) === 0) return NO_ENTRY;
    if (file === undefined || (flags & TRUNCATE) !== 0) {
      file = new MemoryFile();
      this.#files.set(path, file);
    }
    const descriptor = this.#nextDescriptor;
    this.#nextDescriptor += 1;
    this.#open.set(descriptor, { file, append: (descriptorFlags & APPEND) !== 0, at: 0 });
    this.#view().setUint32(resultAt, descriptor, true);
    return SUCCESS;
  }
}
