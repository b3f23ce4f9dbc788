import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { providers, type Provider } from '../../voices/onnx/execution.ts';
import { candidateProviders, machineIdentity, thisMachine, type Machine } from './gpu-present.ts';

/** What is known of a model file on a provider. */
const proofSchema = z.object({
  /** As an absolute path, with size and time: another file of that name is not proven. */
  file: z.string(),
  size: z.number(),
  mtimeMs: z.number(),
  provider: z.enum(providers),
  /** It gives the processor's results, and sooner. */
  serves: z.boolean(),
});
const bookSchema = z.object({ machine: z.string(), proofs: z.array(proofSchema) });
type Proof = z.infer<typeof proofSchema>;

/** What was found out about this machine's GPU, kept in the data folder until the machine changes. */
export interface Proofs {
  /** The providers that serve each file, by its absolute path. */
  readonly proven: Readonly<Record<string, readonly Provider[]>>;
  /** Whether it has been tried. */
  knows(file: string, provider: Provider): boolean;
  /** Keeps it for next time, where there are a GPU, such a file, and a folder that can be written. */
  note(file: string, provider: Provider, serves: boolean): void;
  /** As if it had not been tried. */
  forget(file: string, provider: Provider): void;
}

/** Reads them. Where there is no GPU nothing is proven, and nothing is read. */
export function openProofs(dataDir: string, machine: Machine = thisMachine): Proofs {
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
    // Not there yet, or not ours: it is found out again.
    return [];
  }
}

function writeProofs(place: string, book: z.infer<typeof bookSchema>): void {
  try {
    mkdirSync(path.dirname(place), { recursive: true });
    const draft = `${place}.${process.pid}`;
    writeFileSync(draft, `${JSON.stringify(book, undefined, 2)}\n`);
    renameSync(draft, place);
  } catch {
    // A folder that cannot be written keeps nobody from talking.
  }
}
