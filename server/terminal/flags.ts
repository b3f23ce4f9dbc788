import { mkdtempSync, rmdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { settings } from '../config/config.ts';
import { terminalWidth, wrap } from './text.ts';

/** Error in the command line; exit status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Command-line flag of one command. */
export interface FlagFacts {
  readonly type: 'string' | 'boolean';
  readonly help: string;
  /** Placeholder of the value in the help text. */
  readonly value?: string;
}

/** Value of a flag; undefined if it is absent. */
export type FlagValue = string | boolean | undefined;

/** A command, for its help text and error messages. */
export interface CommandFacts<Flag extends string> {
  /** Such as `eval run`. */
  readonly name: string;
  readonly synopsis: string;
  readonly about?: string;
  readonly flags: Readonly<Record<Flag, FlagFacts>>;
  /** Accept the server's settings too; `listed` shows them in the help text. */
  readonly settings?: 'accepted' | 'listed';
}

export interface CommandLine<Flag extends string> {
  readonly values: Readonly<Partial<Record<Flag, string | boolean>>>;
  readonly positionals: readonly string[];
  readonly configFile: string | undefined;
  /** Settings of the server that were given as flags, by name, except those in `secrets`. */
  readonly settings: Readonly<Record<string, string | boolean>>;
  readonly secrets: Readonly<Record<string, string | boolean>>;
}

/** Parses a command's flags and, if it takes them, the settings; undefined after `--help`. Throws `UsageError`. */
export function parseFlags<Flag extends string>(
  command: CommandFacts<Flag>,
  args: readonly string[],
  print: (text: string) => void = (text) => console.log(text),
): CommandLine<Flag> | undefined {
  const { flags, name, synopsis } = command;
  const options: NonNullable<ParseArgsConfig['options']> = { help: { type: 'boolean', short: 'h' } };
  const accepted = command.settings === undefined ? [] : settings.filter(({ flag }) => !(flag.slice(2) in flags));
  if (accepted.length > 0) options['config'] = { type: 'string' };
  for (const { flag, isSwitch } of accepted) options[flag.slice(2)] = { type: isSwitch ? 'boolean' : 'string' };
  for (const [flag, { type }] of Object.entries<FlagFacts>(flags)) options[flag] = { type };
  let parsed: ReturnType<typeof parseArgs>;
  try {
    parsed = parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (cause) {
    throw new UsageError(`${optionProblem(cause)}\nUsage: dramatis ${name} ${synopsis}`, { cause });
  }
  const values = parsed.values as Record<string, string | boolean | undefined>;
  if (values['help'] === true) {
    print(helpText(command));
    return undefined;
  }
  const given = (isSecret: boolean): Record<string, string | boolean> =>
    Object.fromEntries(
      accepted
        .filter(({ secret }) => secret === isSecret)
        .flatMap((setting) => {
          const value = values[setting.flag.slice(2)];
          return value === undefined ? [] : [[setting.name, value]];
        }),
    );
  return {
    values: values as Partial<Record<Flag, string | boolean>>,
    positionals: parsed.positionals,
    configFile: textFlag(values['config']),
    settings: given(false),
    secrets: given(true),
  };
}

export function flagOf(name: string): string {
  return settings.find((setting) => setting.name === name)?.flag ?? name;
}

/** Describes an error of Node's `parseArgs` in one sentence. */
function optionProblem(fault: unknown): string {
  const { code = '', message } = fault as NodeJS.ErrnoException;
  const option = /'(?:-\w, )?(-[^\s'=]*)/.exec(message)?.[1] ?? '';
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') return `There is no option ${option}.`;
  if (/does not take an argument/.test(message)) return `${option} takes no value.`;
  if (/ambiguous/.test(message)) return `${option} needs a value; write one that begins with a dash as ${option}=-…`;
  return code === 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE' ? `${option} needs a value.` : message;
}

const widestHelp = 100;
const flagColumns = 30;

function helpText({ name, synopsis, about = '', flags, settings: shown }: CommandFacts<string>): string {
  const width = Math.min(widestHelp, terminalWidth());
  const rows = Object.entries(flags).map(([flag, { type, value = 'VALUE', help }]) =>
    flagRow(type === 'boolean' ? `--${flag}` : `--${flag} ${value}`, help, width),
  );
  const more =
    shown === 'listed'
      ? settingRows(width)
      : shown === 'accepted'
        ? 'It also takes the settings of the server, such as --data-dir:\n`dramatis serve --help` lists them.'
        : '';
  return [wrap(`dramatis ${name} ${synopsis}`, 4, width), wrap(about, 0, width), rows.join('\n'), wrap(more, 0, width)]
    .filter((part) => part !== '')
    .join('\n\n');
}

function settingRows(width: number): string {
  const sections = [...new Set(settings.map(({ group }) => group))].map((group) => {
    const rows = settings
      .filter((setting) => setting.group === group)
      .map(({ flag, isSwitch, value, help, env, shown }) => {
        const facts = isSwitch || shown === undefined ? env : `${env}, default ${shown}`;
        return flagRow(isSwitch ? flag : `${flag} ${value}`, `${help} (${facts})`, width);
      });
    return [`${group}:`, ...rows].join('\n');
  });
  const file = flagRow('--config FILE', 'settings file (default dramatis.config.json)', width);
  return [`Settings, each a flag, an environment variable, or a key of the settings file:\n${file}`, ...sections].join(
    '\n\n',
  );
}

function flagRow(flag: string, help: string, width: number): string {
  if (flag.length < flagColumns - 2) return wrap(`  ${flag.padEnd(flagColumns - 2)}${help}`, flagColumns, width);
  return `  ${flag}\n${wrap(' '.repeat(flagColumns) + help, flagColumns, width)}`;
}

/** Returns a flag's text; undefined if the flag is absent or blank. */
export function textFlag(value: FlagValue): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** Parses a flag's value as a number; undefined if the flag is absent. Throws `UsageError`. */
export function numberFlag(
  value: FlagValue,
  flag: string,
  { min = -Infinity, max = Infinity, isWhole = false } = {},
): number | undefined {
  if (value === undefined) return undefined;
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN;
  if (Number.isFinite(number) && number >= min && number <= max && (!isWhole || Number.isInteger(number)))
    return number;
  const range = max === Infinity ? (min === -Infinity ? '' : `, at least ${min}`) : ` from ${min} to ${max}`;
  throw new UsageError(`--${flag} must be a ${isWhole ? 'whole number' : 'number'}${range}.`);
}

/** Returns the text of a required flag. Throws a `UsageError` if it is missing. */
export function requireFlag(value: FlagValue, flag: string): string {
  const text = textFlag(value);
  if (text === undefined) throw new UsageError(`--${flag} is required.`);
  return text;
}

/** Returns the only positional argument. Throws `UsageError` unless there is exactly one. */
export function onlyPositional(positionals: readonly string[], what: string): string {
  const [only, ...more] = positionals;
  if (only === undefined || more.length > 0) throw new UsageError(`Give ${what}.`);
  return only;
}

/** Throws a `UsageError` on positional arguments; for commands that take none. */
export function requireNone(positionals: readonly string[]): void {
  if (positionals[0] !== undefined)
    throw new UsageError(`Unexpected argument "${positionals[0]}": this command takes only options.`);
}

/**
 * Throws a `UsageError` before any work if a file cannot be written at the place of `--out`. A device or a pipe is
 * written in place, so its folder does not matter; `-` is standard output.
 */
export function requirePlaceFor(out: string): void {
  const file = path.resolve(out);
  const there = out === '-' ? undefined : statSync(file, { throwIfNoEntry: false });
  if (there?.isDirectory() === true || out.endsWith(path.sep))
    throw new UsageError(`--out: ${file} is a folder. Name a file.`);
  if (out === '-' || there?.isFile() === false) return;
  const folder = path.dirname(file);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new UsageError(`--out: there is no folder ${folder}. Create it, or choose another.`);
  try {
    rmdirSync(mkdtempSync(path.join(folder, '.writable-')));
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const remedy = code === 'ENOSPC' || code === 'EDQUOT' ? 'Free some space' : 'Change its permissions';
    throw new UsageError(`--out: the folder ${folder} cannot be written (${code}). ${remedy}, or choose another.`, {
      cause,
    });
  }
}
