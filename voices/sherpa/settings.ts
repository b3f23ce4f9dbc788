import { z } from 'zod';
import { weightsSchema } from '../models/weights.ts';

/** What all models hear at, in hertz. */
export const sampleRate = 16_000;

/** What a model runs on. */
export const machineSettings = {
  /** Processors that one call may use. */
  threads: z.number().int().min(1).max(64).default(2),
  /** The package from npm runs on processors only; a build of one's own may know others. */
  provider: z.enum(['cpu', 'cuda', 'coreml', 'directml']).default('cpu'),
};

export interface MachineSettings {
  readonly threads: number;
  readonly provider: string;
}

/** The same as sherpa-onnx wants it. */
export function modelOptions({ threads, provider }: MachineSettings): object {
  return { numThreads: threads, provider, debug: 0 };
}

type Files<Part extends string> = { [Name in Part]: typeof weightsSchema };
type OptionalFiles<Part extends string> = { [Name in Part]: z.ZodOptional<typeof weightsSchema> };

/** The files of a family of models: those that it needs, then those that only some of its models have. */
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
