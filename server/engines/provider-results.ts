import { mkdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { providers, type Provider } from '../../voices/onnx/execution.ts';
import { writeFileAtomicSync } from '../../voices/runtime/files.ts';
import { candidateProviders, machineIdentity, thisMachine, type Machine } from './gpu-detection.ts';

/** Trial result of a model file on a provider. */
const proofSchema = z.object({
  /** Absolute path; with size and time, so that a replaced file counts as untried. */
  file: z.string(),
  size: z.number(),
  mtimeMs: z.number(),
  provider: z.enum(providers),
  /** True if it gives the CPU's results, and faster. */
  serves: z.boolean(),
});
const bookSchema = z.object({ machine: z.string(), proofs: z.array(proofSchema) });
type Proof = z.infer<typeof proofSchema>;

/** Trial results on this machine's GPU, kept in the data folder until the machine changes. */
export interface ProviderResults {
  /** Providers that passed the trial, by absolute path of the model file. */
  readonly proven: Readonly<Record<string, readonly Provider[]>>;
  knows(file: string, provider: Provider): boolean;
  /** Stores a result, unless there is no GPU or no such file. Not persisted if the folder is not writable. */
  note(file: string, provider: Provider, serves: boolean): void;
  /** Forgets a result, as if it had not been tried. */
  forget(file: string, provider: Provider): void;
}

/** Reads the stored results. Without a GPU nothing is proven, and nothing is read. */
export function openProviderResults(dataDir: string, machine: Machine = thisMachine): ProviderResults {
  const candidates = candidateProviders(machine);
  const place = path.join(dataDir, 'gpu.json');
  const identity = candidates.length === 0 ? '' : machineIdentity(machine);
  let proofs = candidates.length === 0 ? [] : readProofs(place, identity).filter(isCurrent);
  const serves = (file: string, provider: Provider): boolean =>
    proofs.some((proof) => proof.file === file && proof.provider === provider && proof.serves);
  const without = (file: string, provider: Provider): Proof[] =>
    proofs.filter((proof) => proof.file !== file || proof.provider !== provider);
  const keep = (changed: Proof[]): void => {
    proofs = changed;
    writeProofs(place, { machine: identity, proofs });
  };
  return {
    get proven() {
      const files = [...new Set(proofs.map(({ file }) => file))];
      return Object.fromEntries(files.map((file) => [file, candidates.filter((provider) => serves(file, provider))]));
    },
    knows: (file, provider) => proofs.some((proof) => proof.file === file && proof.provider === provider),
    note(file, provider, serves) {
      const found = statSync(file, { throwIfNoEntry: false });
      if (found === undefined || candidates.length === 0) return;
      const { size, mtimeMs } = found;
      keep([...without(file, provider), { file, size, mtimeMs, provider, serves }]);
    },
    forget: (file, provider) => keep(without(file, provider)),
  };
}

function isCurrent({ file, size, mtimeMs }: Proof): boolean {
  const found = statSync(file, { throwIfNoEntry: false });
  return found?.size === size && found.mtimeMs === mtimeMs;
}

function readProofs(place: string, machine: string): Proof[] {
  try {
    const book = bookSchema.parse(JSON.parse(readFileSync(place, 'utf8')));
    return book.machine === machine ? book.proofs : [];
  } catch {
    // Missing or invalid: the trials are repeated.
    return [];
  }
}

function writeProofs(place: string, book: z.infer<typeof bookSchema>): void {
  try {
    mkdirSync(path.dirname(place), { recursive: true, mode: 0o700 });
    writeFileAtomicSync(place, `${JSON.stringify(book, undefined, 2)}\n`);
  } catch {
    // An unwritable folder must not keep the server from working.
  }
}
