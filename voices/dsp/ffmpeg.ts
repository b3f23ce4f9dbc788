import { execFile, spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

/** The ffmpeg that is used, and how it is confined. */
export interface Ffmpeg {
  readonly path: string;
  /** As it names itself, such as `5.1.9-0+deb12u1`. */
  readonly version: string;
  /** True for the npm package's build of 2018, which is used if no newer one is on PATH. */
  readonly isBundled: boolean;
  /** Path of `prlimit`, which bounds memory and CPU time; undefined if there is none. */
  readonly prlimit: string | undefined;
}

export interface FfmpegRun {
  /** Options of the input, and `-i`. ffmpeg opens nothing but the pipes it is given. */
  readonly input: readonly string[];
  /** Options of the output, format included. It goes to standard output. */
  readonly output: readonly string[];
  /** Standard input: a pipe, or the descriptor of an open file. */
  readonly stdin: 'pipe' | number;
  /** The program is killed after this time, and after as much time of a CPU. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/** Most address space of one ffmpeg: an audio decoder takes a tenth of it, the libraries of a full build a third. */
const mostMemoryBytes = 2 ** 30;
/** The version of libavutil in ffmpeg 5.1. Builds of git have no other number. */
const leastLibavutil = [57, 28] as const;
/** Encoders of `/v1/audio/speech` that small builds lack. */
const neededEncoders = ['libmp3lame', 'libopus'];

let found: Promise<Ffmpeg> | undefined;

/** Finds ffmpeg, once: 5.1 or later on PATH, otherwise the npm package's. Rejects if there is none for this system. */
export function findFfmpeg(): Promise<Ffmpeg> {
  found ??= chooseFfmpeg(process.env['PATH']);
  return found;
}

/** Chooses among the programs on a PATH and the npm package's. */
export async function chooseFfmpeg(programPath: string | undefined): Promise<Ffmpeg> {
  for (const file of await onPath('ffmpeg', programPath)) {
    const version = await modernVersion(file);
    if (version !== undefined)
      return { path: file, version, isBundled: false, prlimit: await limiterFor(file, programPath) };
  }
  const file = (await import('@ffmpeg-installer/ffmpeg')).default.path;
  const { version } = await versionsOf(file);
  return { path: file, version, isBundled: true, prlimit: await limiterFor(file, programPath) };
}

/** Starts ffmpeg without network, terminal, threads and video, and with bounds of memory and time. */
export function startFfmpeg({ path: file, prlimit }: Ffmpeg, run: FfmpegRun): ChildProcess {
  const { input, output, stdin, timeoutMs, signal } = run;
  const shared = ['-nostdin', '-hide_banner', '-v', 'error', '-filter_threads', '1', '-threads', '1'];
  const all = [...shared, ...input, '-vn', '-sn', '-dn', '-threads', '1', ...output, 'pipe:1'];
  const stdio: StdioOptions = [stdin, 'pipe', 'ignore'];
  const options = { stdio, timeout: timeoutMs, killSignal: 'SIGKILL', ...(signal && { signal }) } as const;
  return prlimit === undefined
    ? spawn(file, all, options)
    : spawn(prlimit, [...limitsOf(timeoutMs), file, ...all], options);
}

function limitsOf(timeoutMs: number): string[] {
  return [`--as=${mostMemoryBytes}`, `--cpu=${Math.ceil(timeoutMs / 1000)}`, '--core=0'];
}

/** Returns `prlimit` if ffmpeg starts under its limits here; a container may forbid that. */
async function limiterFor(file: string, programPath: string | undefined): Promise<string | undefined> {
  const [prlimit] = await onPath('prlimit', programPath);
  if (prlimit === undefined) return undefined;
  const text = await outputOf(prlimit, [...limitsOf(1000), file, '-version']);
  return text === undefined ? undefined : prlimit;
}

/** Returns the version of a program if it is new enough and writes every format that we need. */
async function modernVersion(file: string): Promise<string | undefined> {
  const { version, libavutil } = await versionsOf(file);
  const [major = 0, minor = 0] = libavutil;
  const [leastMajor, leastMinor] = leastLibavutil;
  if (major < leastMajor || (major === leastMajor && minor < leastMinor)) return undefined;
  const encoders = (await outputOf(file, ['-hide_banner', '-encoders'])) ?? '';
  return neededEncoders.every((name) => encoders.includes(` ${name} `)) ? version : undefined;
}

async function versionsOf(file: string): Promise<{ readonly version: string; readonly libavutil: readonly number[] }> {
  const text = (await outputOf(file, ['-version'])) ?? '';
  const libavutil = /^libavutil\s+(\d+)\.\s*(\d+)/m.exec(text)?.slice(1).map(Number) ?? [];
  return { version: /^ffmpeg version (\S+)/.exec(text)?.[1] ?? 'unknown', libavutil };
}

async function outputOf(file: string, words: readonly string[]): Promise<string | undefined> {
  const options = { timeout: 5_000, killSignal: 'SIGKILL', maxBuffer: 2 ** 20 } as const;
  return promisify(execFile)(file, words, options).then(
    ({ stdout }) => stdout,
    () => undefined,
  );
}

/** Returns the programs of this name on a PATH; relative folders, which depend on the current one, are left out. */
async function onPath(name: string, programPath = ''): Promise<string[]> {
  const file = process.platform === 'win32' ? `${name}.exe` : name;
  const folders = [...new Set(programPath.split(path.delimiter))].filter((folder) => path.isAbsolute(folder));
  const known = await Promise.all(
    folders.map(async (folder) => {
      const candidate = path.join(folder, file);
      return access(candidate, constants.X_OK).then(
        () => [candidate],
        () => [],
      );
    }),
  );
  return known.flat();
}
