import { parseArgs } from 'node:util';
import { EvalError } from '../eval-error.ts';
import type { EvalFlag, EvalHost } from '../host.ts';

export interface EvalArguments<Name extends string> {
  readonly values: Readonly<Partial<Record<Name, string | boolean>>>;
  readonly positionals: readonly string[];
  /** Server flags, if the command takes them; those that hold keys are in `secrets`. */
  readonly server: Readonly<Record<string, string | boolean>>;
  readonly secrets: Readonly<Record<string, string | boolean>>;
}

/**
 * Parses the flags of `dramatis eval NAME`. Returns undefined if help was requested (and printed). Throws `EvalError`.
 */
export function parseFlags<Name extends string>(
  name: string,
  synopsis: string,
  args: readonly string[],
  flags: Readonly<Record<Name, EvalFlag>>,
  host: Pick<EvalHost, 'serverFlags' | 'secretFlags' | 'print' | 'helpText' | 'optionProblem'>,
  { takesServerFlags = false } = {},
): EvalArguments<Name> | undefined {
  const own = Object.entries<EvalFlag>(flags);
  const server = takesServerFlags ? Object.entries(host.serverFlags) : [];
  const options = Object.fromEntries([
    ['help', { type: 'boolean' as const, short: 'h' }],
    ...server.map(([flag, type]) => [flag, { type }] as const),
    ...own.map(([flag, { type }]) => [flag, { type }] as const),
  ]);
  let parsed: { values: Record<string, unknown>; positionals: string[] };
  try {
    parsed = parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (fault) {
    throw new EvalError('usage', `${host.optionProblem(fault)}\nUsage: dramatis eval ${name} ${synopsis}`);
  }
  const { values, positionals } = parsed;
  if (values['help'] === true) {
    const more = takesServerFlags ? 'Flags of the server that is measured: `dramatis serve --help`.' : '';
    host.print(host.helpText(`dramatis eval ${name} ${synopsis}`, '', flags, more).trimEnd());
    return undefined;
  }
  const chosen = server.flatMap(([flag]) => {
    const value = values[flag];
    return flag in flags || value === undefined ? [] : [[flag, value as string | boolean] as const];
  });
  return {
    values: values as Partial<Record<Name, string | boolean>>,
    positionals,
    server: Object.fromEntries(chosen.filter(([flag]) => !host.secretFlags.includes(flag))),
    secrets: Object.fromEntries(chosen.filter(([flag]) => host.secretFlags.includes(flag))),
  };
}

/** Parses a flag's value as a number; undefined if the flag is absent. */
export function numberOf(value: string | boolean | undefined, flag: string): number | undefined {
  if (value === undefined) return undefined;
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN;
  if (!Number.isFinite(number)) throw new EvalError('usage', `--${flag} must be a number.`);
  return number;
}

/** Returns a flag's text; undefined if the flag is absent or empty. */
export function textOf(value: string | boolean | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Returns the only positional argument. Throws `EvalError` unless there is exactly one. */
export function onlyPositional(positionals: readonly string[], what: string): string {
  const [only, ...more] = positionals;
  if (only === undefined || more.length > 0) throw new EvalError('usage', `Give ${what}.`);
  return only;
}
