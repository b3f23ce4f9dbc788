import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { readAudioFile } from '../../../voices/dsp/audio-file.ts';
import { hashFile } from '../../../voices/runtime/files.ts';
import type { QualityMeter } from '../../../voices/quality/dnsmos.ts';
import { EvalError } from '../../eval-error.ts';
import type { StageContext } from '../runner/stage.ts';

/** A command that removes music and noise from speech; `{in}` and `{out}` in its words are replaced by the two files. */
export type Separator = readonly string[];

/** Parses `--separate "TOOL --x {in} {out}"`: words at spaces; no shell is involved. Throws an `EvalError`. */
export function separatorOf(text: string): Separator {
  const words = text.trim().split(/\s+/);
  if (['{in}', '{out}'].every((place) => words.some((word) => word.includes(place)))) return words;
  throw new EvalError('usage', '--separate must be a command with {in} and {out}, such as "separate {in} {out}".');
}

const ratedSeconds = 60;

/** Separates a recording once; counts what DNSMOS says of its first minute before and after. Resolves to the new file. */
export async function separated(
  file: string,
  {
    separator,
    meter,
    context,
  }: { readonly separator: Separator; readonly meter: QualityMeter | undefined; readonly context: StageContext },
): Promise<string> {
  const { signal } = context;
  const place = path.join(context.folder, 'separated', `${path.parse(file).name}.wav`);
  const rate = async (source: string): Promise<number | null> => {
    if (meter === undefined) return null;
    const { samples, sampleRate } = await readAudioFile(source, { sampleRate: 16_000, signal, maxSeconds: 3_600 });
    const sound = { samples: samples.subarray(0, ratedSeconds * sampleRate), sampleRate, atMs: 0 };
    return Math.round((await meter.rate(sound, { signal })).overall * 100) / 100;
  };
  const { before, after } = await context.once({
    part: 'separated',
    by: separator.join(' '),
    input: await hashFile(file),
    isKept: async () => (await stat(place).catch(() => undefined))?.isFile() === true,
    async make() {
      await mkdir(path.dirname(place), { recursive: true });
      const draft = path.join(path.dirname(place), `draft-${path.basename(place)}`);
      await runSeparator(separator, { in: path.resolve(file), out: draft }, signal);
      await rename(draft, place).catch((cause: unknown) => {
        throw new EvalError('data', `--separate: the command wrote no ${draft}.`, cause);
      });
      return { before: await rate(file), after: await rate(place) };
    },
  });
  if (before !== null && after !== null)
    context.count(after > before ? 'recording better after separation' : 'recording no better after separation');
  return place;
}

async function runSeparator(
  [command = '', ...words]: Separator,
  files: { readonly in: string; readonly out: string },
  signal: AbortSignal,
): Promise<void> {
  const filled = words.map((word) => word.replace('{in}', files.in).replace('{out}', files.out));
  await rm(files.out, { force: true });
  const child = spawn(command, filled, { stdio: ['ignore', 'ignore', 'inherit'], signal });
  const [status] = (await once(child, 'exit').catch((cause: unknown) => {
    signal.throwIfAborted();
    throw new EvalError('usage', `--separate: ${command} cannot be started.`, cause);
  })) as [number | null];
  if (status !== 0) throw new EvalError('data', `--separate: ${command} ended with the status ${status}.`);
}
