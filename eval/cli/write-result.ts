import path from 'node:path';
import { textFlag, UsageError } from '../../server/terminal/flags.ts';
import { writeFileAtomic } from '../../voices/runtime/files.ts';
import type { Exported } from '../benchmark.ts';
import type { EvalHost } from '../host.ts';

interface Place {
  /** Value of `--out`: `-` is standard output. */
  readonly out: string | boolean | undefined;
  /** Default folder. */
  readonly folder: string;
}

/** Writes an export to the place of `--out`, and prints where it is. Throws `UsageError` if a folder is to go to `-`. */
export async function writeResult(exported: Exported, { out, folder }: Place, host: EvalHost): Promise<void> {
  const chosen = textFlag(out);
  if ('writeTo' in exported) {
    if (chosen === '-') throw new UsageError('This format is a folder, so --out cannot be -. Name a folder.');
    return host.print(await exported.writeTo(path.resolve(chosen ?? path.join(folder, exported.folder))));
  }
  if (chosen === '-') return host.write(exported.text);
  const file = path.resolve(chosen ?? path.join(folder, exported.file));
  await writeFileAtomic(file, exported.text);
  host.print(file);
}
