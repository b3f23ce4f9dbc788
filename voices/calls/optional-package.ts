import { EngineError } from '../engine.ts';

/** Imports an optional dependency; throws `ENGINE_MISSING`, with the command that installs it, if it does not load. */
export async function importOptional<Package>(
  engine: string,
  name: string,
  load: () => Promise<Package>,
): Promise<Package> {
  try {
    return await load();
  } catch (cause) {
    const isAbsent = (cause as NodeJS.ErrnoException | null)?.code === 'ERR_MODULE_NOT_FOUND';
    const detail = isAbsent
      ? `the package ${name} is not installed: run \`npm ci\` without --omit=optional`
      : `the package ${name} does not load on ${process.platform}-${process.arch}: run \`npm ci\` again without --omit=optional, or choose another engine`;
    throw new EngineError(engine, 'ENGINE_MISSING', detail, cause);
  }
}
