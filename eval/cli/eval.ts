import { UsageError } from '../../server/terminal/flags.ts';
import { printable, wrap } from '../../server/terminal/text.ts';
import { EvalError } from '../eval-error.ts';
import type { EvalHost } from '../host.ts';

/** One module per command, with its usage line. Each exports `run(args, host)`, which resolves to the exit status. */
const commands = {
  run: { help: 'run a benchmark on a system and have a judge score it (--task NAME)', load: () => import('./run.ts') },
  resume: { help: 'continue a run that was stopped or killed', load: () => import('./resume.ts') },
  rescore: { help: 'recompute scores from the log, without any calls', load: () => import('./rescore.ts') },
  compare: { help: 'compare two runs, item by item', load: () => import('./compare.ts') },
  report: { help: 'write the report of a run as one HTML file', load: () => import('./report.ts') },
  export: {
    help: 'export CSV, JSON, LaTeX, or files in the form of the papers',
    load: () => import('./export.ts'),
  },
  score: { help: 'score SpeechRole result files, v1 or v2', load: () => import('./score.ts') },
  rouge: { help: 'score answers in JSONL files by ROUGE-L', load: () => import('./rouge.ts') },
  rolebench: { help: 'score answers to RoleBench: CUS, RAW, SPE', load: () => import('./rolebench.ts') },
  data: { help: 'check PLACE: report which test data is usable', load: () => import('./data.ts') },
  cross: {
    help: 'WikiRoleEval: compare cross-supervised models',
    load: () => import('./cross.ts'),
  },
  leaderboard: { help: 'print the papers’ tables, with your runs', load: () => import('./leaderboard.ts') },
  agreement: { help: 'measure how well a judge agrees with people (appendix B)', load: () => import('./agreement.ts') },
  'judge-check': {
    help: 'test a judge on answer pairs with a known worse one',
    load: () => import('./judge-check.ts'),
  },
} as const;

/**
 * Runs `dramatis eval COMMAND …`. Resolves to the exit status; 2 for an invalid command line. What commands print is made
 * safe for a terminal here: names of runs, roles and models are those of others.
 */
export async function runEval(args: readonly string[], terminal: EvalHost): Promise<number> {
  const host: EvalHost = { ...terminal, print: (text) => terminal.print(printable(text)) };
  const [name = '', ...rest] = args;
  if (!Object.hasOwn(commands, name)) {
    const rows = Object.entries(commands).map(([command, { help }]) => wrap(`  ${command.padEnd(13)}${help}`, 15));
    const said = name === '' || name === '--help' || name === '-h' ? '' : `There is no command "eval ${name}".\n\n`;
    (said === '' ? host.print : host.note)(
      `${said}dramatis eval COMMAND: run and score benchmarks of role-playing\n\n${rows.join('\n')}\n\nFor more: dramatis eval COMMAND --help`,
    );
    return said === '' && name !== '' ? 0 : 2;
  }
  try {
    const module = await commands[name as keyof typeof commands].load();
    return await module.run(rest, host);
  } catch (fault) {
    if (!(fault instanceof EvalError || fault instanceof UsageError)) throw fault;
    host.note(printable(`dramatis eval ${name}: ${fault.message}`));
    return fault instanceof UsageError || fault.code === 'eval_usage' ? 2 : 1;
  }
}
