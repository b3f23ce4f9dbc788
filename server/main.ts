import { ConfigError } from './config.ts';
import { CharacterError } from '../characters/character-error.ts';
import { usage, UsageError } from './cli/usage.ts';

/** One module a command; each exports `run(args)`, which resolves to the exit status. */
const commands: Readonly<Record<string, () => Promise<{ run(args: string[]): Promise<number> }>>> = {
  serve: () => import('./cli/serve.ts'),
  talk: () => import('./cli/talk.ts'),
  replay: () => import('./cli/replay.ts'),
  latency: () => import('./cli/latency.ts'),
  listen: () => import('./cli/listen.ts'),
  say: () => import('./cli/say.ts'),
  scene: () => import('./cli/scene.ts'),
  characters: () => import('./cli/characters.ts'),
  voices: () => import('./cli/voices.ts'),
  doctor: () => import('./cli/doctor.ts'),
  eval: () => import('./cli/eval.ts'),
};

async function main(): Promise<number> {
  const [name, ...args] = process.argv.slice(2);
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    process.stdout.write(usage());
    return name === undefined ? 2 : 0;
  }
  const load = commands[name];
  if (load === undefined) {
    process.stderr.write(`There is no command "${name}".\n\n${usage()}`);
    return 2;
  }
  try {
    return await (await load()).run(args);
  } catch (fault) {
    // What a user can mend is said in one line; anything else is a bug and shows where.
    const expected = fault instanceof UsageError || fault instanceof ConfigError || fault instanceof CharacterError;
    const coded = fault instanceof Error && 'code' in fault && typeof fault.code === 'string';
    const text =
      fault instanceof Error ? (expected || coded ? fault.message : (fault.stack ?? fault.message)) : String(fault);
    process.stderr.write(`dramatis ${name}: ${text}\n`);
    return fault instanceof UsageError ? 2 : 1;
  }
}

process.exitCode = await main();
