import { enableCompileCache } from 'node:module';
import { homedir } from 'node:os';
import path from 'node:path';
import { faultText } from './terminal/fault-text.ts';
import { usage } from './terminal/commands.ts';
import { printable, wrap } from './terminal/text.ts';

/** One module per command; each exports `run(args)`, which resolves to the exit status. */
const commands: Readonly<Record<string, () => Promise<{ run(args: string[]): Promise<number> }>>> = {
  serve: () => import('./cli/serve.ts'),
  talk: () => import('./cli/talk/talk.ts'),
  replay: () => import('./cli/replay.ts'),
  latency: () => import('./cli/latency/latency.ts'),
  listen: () => import('./cli/listen.ts'),
  say: () => import('./cli/say.ts'),
  scene: () => import('./cli/scene.ts'),
  characters: () => import('./cli/characters/characters.ts'),
  voices: () => import('./cli/voices/voices.ts'),
  memory: () => import('./cli/memory.ts'),
  models: () => import('./cli/models/models.ts'),
  doctor: () => import('./cli/doctor/doctor.ts'),
  eval: () => import('./cli/eval.ts'),
  data: () => import('./cli/data.ts'),
  worker: () => import('./cli/worker.ts'),
};

// Caches compiled code, which saves a third of the start time of most commands. An empty variable counts as unset.
const codeCache = path.join(process.env['XDG_CACHE_HOME'] || path.join(homedir(), '.cache'), 'dramatis');
enableCompileCache(codeCache);
// Threads and child processes read the variable only.
process.env['NODE_COMPILE_CACHE'] ||= codeCache;

async function main(): Promise<number> {
  const [name, ...args] = process.argv.slice(2);
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    process.stdout.write(usage());
    return name === undefined ? 2 : 0;
  }
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (load === undefined) {
    process.stderr.write(`There is no command "${name}".\n\n${usage()}`);
    return 2;
  }
  try {
    return await (await load()).run(args);
  } catch (fault) {
    const { text, status } = faultText(fault);
    const { isTTY, columns } = process.stderr;
    const message = printable(`dramatis ${name}: ${text}\n`);
    process.stderr.write(isTTY ? wrap(message, 0, columns) : message);
    return status;
  }
}

// A reader that stops early, such as `head`, is no error: the rest of the output is dropped.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (fault: NodeJS.ErrnoException) => {
    if (fault.code !== 'EPIPE') throw fault;
  });

process.exitCode = await main();
// After Ctrl-C, exits at once: a connection that a proxy is still opening cannot be cancelled.
if (process.exitCode === 130) process.exit();
