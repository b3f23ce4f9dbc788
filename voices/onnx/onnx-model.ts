import { EngineError } from '../engine.ts';
import type { ExecutedModel } from './execution.ts';
import { hashFile } from '../runtime/files.ts';
import { oneThread, openModelSession, type ModelSession } from './model-session.ts';

/** A model file that the user provides. */
export interface ModelFile {
  /** Name of the engine, for error messages. */
  readonly engine: string;
  readonly path: string;
  /** Advice on which file to get, and from where. */
  readonly advice: string;
}

/** SHA-256 as lower-case hex; throws `ENGINE_MISSING` if there is no such file, or if it is not `expected`. */
export async function hashModel({ engine, path, advice }: ModelFile, expected?: string): Promise<string> {
  const found = await hashFile(path).catch((cause: unknown) => {
    throw new EngineError(engine, 'ENGINE_MISSING', `its weights are not at ${path}: ${advice}`, cause);
  });
  if (expected === undefined || found === expected.toLowerCase()) return found;
  const detail = `${path} is damaged or a different file (SHA-256 ${found}, not ${expected}): ${advice}`;
  throw new EngineError(engine, 'ENGINE_MISSING', detail);
}

/** Loads a model on one CPU thread or its planned device, blocking; throws `ENGINE_MISSING` if that fails. */
export async function loadModel({ engine, path, advice }: ModelFile, model: ExecutedModel): Promise<ModelSession> {
  return openModelSession(model, path, oneThread).catch((cause: unknown) => {
    throw new EngineError(engine, 'ENGINE_MISSING', `${path} cannot be loaded: ${advice}`, cause);
  });
}

/** True if the model's batch dimension is fixed to 1. */
export function takesOneAtATime(session: ModelSession): boolean {
  const [input] = session.inputMetadata;
  return input?.isTensor === true && input.shape[0] === 1;
}
