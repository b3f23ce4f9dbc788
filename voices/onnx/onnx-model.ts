import { EngineError } from '../engine.ts';
import type { ExecutedModel } from './execution.ts';
import { hashFile } from '../runtime/hash.ts';
import { openModelSession, type ModelSession } from './model-session.ts';

/** A model file that the user brings. */
export interface ModelFile {
  /** The engine's name, for errors. */
  readonly engine: string;
  readonly path: string;
  /** What to get, and where from. */
  readonly advice: string;
}

/**
 * The SHA-256 of a model file as lower-case hex. `ENGINE_MISSING` where there is no such file, or, with `expected`, where it is
 * another one.
 */
export async function hashModel({ engine, path, advice }: ModelFile, expected?: string): Promise<string> {
  const found = await hashFile(path).catch((cause: unknown) => {
    throw new EngineError(engine, 'ENGINE_MISSING', `its weights are not at ${path}: ${advice}`, cause);
  });
  if (expected === undefined || found === expected.toLowerCase()) return found;
  const detail = `${path} is another file, or damaged (SHA-256 ${found}, not ${expected}): ${advice}`;
  throw new EngineError(engine, 'ENGINE_MISSING', detail);
}

/** Loads a model to run on one thread, or on the device that the plan has for it. `ENGINE_MISSING` where it cannot be. Blocks: for worker threads. */
export async function loadModel({ engine, path, advice }: ModelFile, model: ExecutedModel): Promise<ModelSession> {
  return openModelSession(model, path, {
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    graphOptimizationLevel: 'all',
  }).catch((cause: unknown) => {
    throw new EngineError(engine, 'ENGINE_MISSING', `${path} cannot be loaded: ${advice}`, cause);
  });
}

/** Whether the model takes one item at a time only, its first size being the number 1. */
export function takesOneAtATime(session: ModelSession): boolean {
  const [input] = session.inputMetadata;
  return input?.isTensor === true && input.shape[0] === 1;
}
