/** Default width of a terminal. */
const usualColumns = 80;
const flagColumns = 28;

/** Command-line flag of one command. */
export interface FlagFacts {
  readonly type: 'string' | 'boolean';
  readonly help: string;
  /** Placeholder of the value in the help text. */
  readonly value?: string;
}

/** Formats a command's help in lines of 80 columns. */
export function helpText(
  usage: string,
  about: string,
  flags: Readonly<Record<string, FlagFacts>>,
  more: string,
): string {
  const rows = Object.entries(flags).map(([flag, { type, value = 'VALUE', help }]) =>
    flagRow(type === 'boolean' ? `--${flag}` : `--${flag} ${value}`, help),
  );
  return [wrapped(usage, 4), wrapped(about, 0), rows.join('\n'), wrapped(more, 0)]
    .filter((part) => part !== '')
    .join('\n\n')
    .concat('\n');
}

/** Formats one flag with its description. */
export function flagRow(flag: string, help: string): string {
  const indent = flagColumns + 2;
  if (flag.length < flagColumns) return wrapped(`  ${flag.padEnd(flagColumns)}${help}`, indent);
  return `  ${flag}\n${wrapped(' '.repeat(indent) + help, indent)}`;
}

/** Wraps text at `columns` columns; continuation lines are indented. */
export function wrapped(text: string, indent: number, columns = usualColumns): string {
  return text
    .split('\n')
    .map((line) => wrapLine(line, indent, columns))
    .join('\n');
}

function wrapLine(line: string, indent: number, columns: number): string {
  if (line.length <= columns) return line;
  const end = line.lastIndexOf(' ', columns);
  if (end <= indent) return line;
  return `${line.slice(0, end)}\n${wrapLine(' '.repeat(indent) + line.slice(end + 1), indent, columns)}`;
}

/** Describes an error of Node's `parseArgs` in one sentence. */
export function optionProblem(fault: unknown): string {
  const { code = '', message } = fault as NodeJS.ErrnoException;
  const option = /'(?:-\w, )?(-[^\s'=]*)/.exec(message)?.[1] ?? '';
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') return `There is no option ${option}.`;
  if (/does not take an argument/.test(message)) return `${option} takes no value.`;
  if (/ambiguous/.test(message)) return `${option} needs a value; one that begins with a dash is written ${option}=-…`;
  return code === 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE' ? `${option} needs a value.` : message;
}
