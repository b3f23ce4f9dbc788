import type Sherpa from 'sherpa-onnx-node';
import { z } from 'zod';
import { importOptional } from '../calls/optional-package.ts';
import { weightsSchema } from '../models/weights.ts';

/** Input rate of all models, in hertz. */
export const sampleRate = 16_000;

/** Threads and execution provider of a model. */
export const machineSettings = {
  /** CPU threads per call. */
  threads: z.number().int().min(1).max(64).default(2),
  /** The npm package supports `cpu` only; a custom build may support others. */
  provider: z.enum(['cpu', 'cuda', 'coreml', 'directml']).default('cpu'),
};

export interface MachineSettings {
  readonly threads: number;
  readonly provider: string;
}

/** Converts the settings to sherpa-onnx's format. */
export function modelOptions({ threads, provider }: MachineSettings): object {
  return { numThreads: threads, provider, debug: 0 };
}

/** Imports sherpa-onnx for the engine `name`; throws `ENGINE_MISSING` if it does not load. */
export function importSherpa(name: string): Promise<typeof Sherpa> {
  return importOptional(name, 'sherpa-onnx-node', async () => (await import('sherpa-onnx-node')).default);
}

type Files<Part extends string> = { [Name in Part]: typeof weightsSchema };
type OptionalFiles<Part extends string> = { [Name in Part]: z.ZodOptional<typeof weightsSchema> };

/** Returns the schema of a model family's files: the required ones, then those that only some of its models have. */
export function familyFiles<Needed extends string, Other extends string = never>(
  needed: readonly Needed[],
  others: readonly Other[] = [],
) {
  const pairs = [
    ...needed.map((part) => [part, weightsSchema]),
    ...others.map((part) => [part, weightsSchema.optional()]),
  ];
  return z.strictObject(Object.fromEntries(pairs) as Files<Needed> & OptionalFiles<Other>);
}
