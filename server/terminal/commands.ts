import { readConfig, type Config } from '../config/config.ts';
import { parseFlags, type CommandLine, type FlagFacts } from './flags.ts';
import { wrap } from './text.ts';

/** One line of help per command; a test compares the README's table with it. */
export const commandHelp = {
  serve: 'start the server and its web page',
  talk: 'talk to a character through the terminal’s microphone',
  replay: 'stream recordings to a character; print transcript, reply and latency',
  latency: 'measure many turns; break down the response latency by stage',
  listen: 'run VAD and ASR on a recording: speech, segments, transcript',
  say: 'synthesize a text in a character’s voice, into a WAV file',
  scene: 'play a scene with several characters, each in its own voice',
  characters: 'list, show, check, draft, import, export and remove characters',
  voices: 'add, list, show, play, remove and compare voices to clone',
  memory: 'list, show, correct, delete, export, erase and move memories of users',
  models: 'list, pull, verify and remove model weights for local engines',
  doctor: 'check Node, engines, audio tools, port and LLM, with a remedy for each failure',
  data: 'build, check and export role-playing data sets; `dramatis data` lists its commands',
  eval: 'run and score role-playing benchmarks; `dramatis eval` lists its commands',
  worker: 'share the work of evaluations and builds started with --jobs',
} as const;

export type CommandName = keyof typeof commandHelp;

/** Formats the help of the whole program. */
export function usage(): string {
  const rows = Object.entries(commandHelp).map(([name, help]) => wrap(`  ${name.padEnd(12)}${help}`, 14));
  return `dramatis: talk to characters by voice\n\n${rows.join('\n')}\n\nFor more: dramatis COMMAND --help\n`;
}

export interface ParsedCommand<Flag extends string> extends Pick<CommandLine<Flag>, 'values' | 'positionals'> {
  readonly config: Config;
}

/**
 * Parses a command line and reads the configuration; undefined after `--help`. Throws `UsageError` and `ConfigError`.
 */
export function parseCommand<Flag extends string>(
  name: CommandName,
  synopsis: string,
  args: readonly string[],
  flags: Readonly<Record<Flag, FlagFacts>>,
): ParsedCommand<Flag> | undefined {
  const settings = name === 'serve' ? 'listed' : 'accepted';
  const parsed = parseFlags({ name, synopsis, about: commandHelp[name], flags, settings }, args);
  if (parsed === undefined) return undefined;
  const { values, positionals, configFile } = parsed;
  const config = readConfig({
    flags: { ...parsed.settings, ...parsed.secrets },
    environment: process.env,
    ...(configFile === undefined ? {} : { file: configFile }),
  });
  return { values, positionals, config };
}
