import { existsSync } from 'node:fs';
import path from 'node:path';
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { flagOf, readConfig, settingFacts, type Config } from '../config/config.ts';
import { flagRow, helpText, optionProblem, type FlagFacts } from './help-text.ts';

/** Error in the command line; exit status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** One line of help per command; a test compares the README's table with it. */
export const commandHelp = {
  serve: 'start the server and its page',
  talk: 'talk to a character through the terminal’s microphone',
  replay: 'stream recordings to a character; print transcript, reply and latency',
  latency: 'hold many turns; print who owns which millisecond of the wait',
  listen: 'show what the ear makes of a recording: speech, segments, transcript',
  say: 'speak a text in a character’s voice, into a WAV file',
  scene: 'have several characters play a scene, each in its own voice',
  characters: 'list, show, check, draft, import, export and remove characters',
  voices: 'add, list, show, play, remove and compare the voices that may be cloned',
  memory: 'list, show, correct, delete, export, erase and move what characters remember of users',
  models: 'list, pull, verify and remove the weights of engines that run here',
  doctor: 'check Node, engines, microphone tools, port and LLM; say how to mend what fails',
  eval: 'SpeechRole-Eval: replay, judge, score, report; `dramatis eval` lists its commands',
} as const;

export type CommandName = keyof typeof commandHelp;

/** Formats the help of the whole program. */
export function usage(): string {
  const rows = Object.entries(commandHelp).map(([name, help]) => `  ${name.padEnd(12)}${help}`);
  return `dramatis: talk by voice with characters\n\n${rows.join('\n')}\n\ndramatis COMMAND --help says more.\n`;
}

export interface ParsedCommand<Flags extends string> {
  readonly values: Readonly<Partial<Record<Flags, string | boolean>>>;
  readonly positionals: readonly string[];
  readonly config: Config;
}

/**
 * Parses a command's own flags and every setting's flag. Prints the help and returns undefined for `--help`. Throws
 * `UsageError` on unknown flags.
 */
export function parseCommand<Flags extends string>(
  name: CommandName,
  synopsis: string,
  args: string[],
  flags: Readonly<Record<Flags, FlagFacts>>,
): ParsedCommand<Flags> | undefined {
  const options: NonNullable<ParseArgsConfig['options']> = {
    help: { type: 'boolean', short: 'h' },
    config: { type: 'string' },
  };
  for (const [flag, facts] of Object.entries<FlagFacts>(flags)) options[flag] = { type: facts.type };
  for (const [setting, facts] of Object.entries(settingFacts)) {
    options[flagOf(setting)] = { type: facts.onOff === true ? 'boolean' : 'string' };
  }
  let parsed: ReturnType<typeof parseArgs>;
  try {
    parsed = parseArgs({ args, options, allowPositionals: true });
  } catch (cause) {
    throw new UsageError(`${optionProblem(cause)}\nUsage: dramatis ${name} ${synopsis}`, { cause });
  }
  const values = parsed.values as Record<string, string | boolean | undefined>;
  if (values['help'] === true) {
    process.stdout.write(commandUsage(name, synopsis, flags));
    return undefined;
  }
  const settings = Object.fromEntries(Object.keys(settingFacts).map((setting) => [setting, values[flagOf(setting)]]));
  const file = values['config'];
  const config = readConfig({
    flags: settings,
    environment: process.env,
    ...(typeof file === 'string' ? { file } : {}),
  });
  return { values: values as Partial<Record<Flags, string | boolean>>, positionals: parsed.positionals, config };
}

function commandUsage(name: CommandName, synopsis: string, flags: Readonly<Record<string, FlagFacts>>): string {
  const rest =
    name === 'serve'
      ? `Settings:\n${settingRows()}`
      : 'Settings of the server, such as --data-dir, may be given too:\n`dramatis serve --help` lists them.';
  return helpText(`dramatis ${name} ${synopsis}`, commandHelp[name], flags, rest);
}

function settingRows(): string {
  const settings = Object.entries(settingFacts).map(([setting, facts]) =>
    flagRow(`--${flagOf(setting)}`, `${facts.help} (${facts.env})`),
  );
  return [flagRow('--config FILE', 'settings file (default: dramatis.config.json)'), ...settings].join('\n');
}

/** Throws a `UsageError` before any work if the output file's folder does not exist. */
export function requireFolderOf(file: string): void {
  const folder = path.dirname(path.resolve(file));
  if (!existsSync(folder)) throw new UsageError(`--out: there is no folder ${folder}. Make it, or choose another.`);
}

/** Throws a `UsageError` on positional arguments; for commands that take none. */
export function requireNone(positionals: readonly string[]): void {
  if (positionals[0] !== undefined)
    throw new UsageError(`What is "${positionals[0]}"? This command takes options alone.`);
}

/** Returns the value of a required flag. Throws a `UsageError` if it is missing. */
export function requireFlag(value: string | boolean | undefined, flag: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw new UsageError(`--${flag} is needed.`);
}
