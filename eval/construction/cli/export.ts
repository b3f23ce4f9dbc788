import { onlyPositional, parseFlags, requireFlag, textFlag, type FlagFacts } from '../../../server/terminal/flags.ts';
import { EvalError } from '../../eval-error.ts';
import { exportNames, writeExport, type ExportName } from '../exports/write-export.ts';
import type { DataHost } from './host.ts';

const names = exportNames.join(', ');

const flags = {
  format: { type: 'string', value: 'NAME', help: names },
  out: { type: 'string', value: 'DIR', help: 'folder to write to' },
  role: { type: 'string', value: 'NAME', help: 'only what this role says' },
  tags: { type: 'string', value: 'USER,ROLE', help: 'sharegpt: names of the sides (default human,gpt)' },
  turns: { type: 'string', value: 'last|all', help: 'alpaca: a row a dialogue, or a row an answer (default all)' },
  'only-accepted': { type: 'boolean', help: 'only what was accepted or edited in `data review`' },
  paths: {
    type: 'string',
    value: 'relative|absolute',
    help: 'recordings: paths from --out, in which train.sh starts (default), or from the root',
  },
} as const satisfies Record<string, FlagFacts>;

/** `dramatis data export DIR --format NAME --out DIR`. */
export async function run(args: readonly string[], host: DataHost): Promise<number> {
  const about = 'Writes the dialogues of a build (dialogues.jsonl) for a trainer or a benchmark.';
  const command = { name: 'data export', synopsis: 'DIR --format NAME --out DIR', about, flags };
  const parsed = parseFlags(command, args, host.print);
  if (parsed === undefined) return 0;
  const { values } = parsed;
  const folder = onlyPositional(parsed.positionals, 'the folder of a build');
  const format = requireFlag(values.format, 'format');
  if (!exportNames.includes(format as ExportName)) throw new EvalError('usage', `--format must be one of: ${names}.`);
  const [user = '', role = '', ...more] = (textFlag(values.tags) ?? 'human,gpt').split(',');
  if (user === '' || role === '' || more.length > 0) throw new EvalError('usage', '--tags must be two names.');
  const turns = textFlag(values.turns) ?? 'all';
  if (turns !== 'last' && turns !== 'all') throw new EvalError('usage', '--turns must be last or all.');
  const paths = textFlag(values.paths) ?? 'relative';
  if (paths !== 'relative' && paths !== 'absolute')
    throw new EvalError('usage', '--paths must be relative or absolute.');
  const out = requireFlag(values.out, 'out');
  const options = {
    format: format as ExportName,
    tags: [user, role] as const,
    turns,
    paths,
    isAccepted: values['only-accepted'] === true,
    role: textFlag(values.role),
  } as const;
  const written = await writeExport(folder, out, options);
  for (const [file, count] of [...written].toSorted(([left], [right]) => (left < right ? -1 : 1)))
    host.print(`  ${file}: ${count}`);
  if (written.size === 0) host.print(`No dialogue in ${folder} can be written in the format ${format}.`);
  return written.size === 0 ? 1 : 0;
}
