import { UsageError } from '../../server/terminal/flags.ts';
import { EvalError } from '../eval-error.ts';
import type { EvalHost } from '../host.ts';

/** One module per command, with its usage line. Each exports `run(args, host)`, which resolves to the exit status. */
const commands = {
  run: { help: 'replay dialogues through a system and judge the replies', load: () => import('./run.ts') },
  resume: { help: 'continue a run that was stopped or killed', load: () => import('./resume.ts') },
  rescore: { help: 'recompute scores from the log, without any calls', load: () => import('./rescore.ts') },
  compare: { help: 'compare two runs, dialogue by dialogue', load: () => import('./compare.ts') },
  report: { help: 'write the report of a run as one HTML file', load: () => import('./report.ts') },
  export: {
    help: 'export CSV, JSON, LaTeX, or result files in SpeechRole’s format',
    load: () => import('./export.ts'),
  },
  score: { help: 'score SpeechRole result files, v1 or v2', load: () => import('./score.ts') },
  data: { help: 'check DIR: how many of the 392 dialogues are complete', load: () => import('./data.ts') },
  leaderboard: { help: 'print the paper’s tables, with your runs', load: () => import('./leaderboard.ts') },
  agreement: { help: 'measure how well a judge agrees with people (appendix B)', load: () => import('./agreement.ts') },
  'judge-check': { help: 'test a judge on altered references', load: () => import('./judge-check.ts') },
} as const;

/** Runs `dramatis eval COMMAND …`. Resolves to the exit status; 2 for an invalid command line. */
export async function runEval(args: readonly string[], host: EvalHost): Promise<number> {
  const [name = '', ...rest] = args;
  if (!Object.hasOwn(commands, name)) {
    const rows = Object.entries(commands).map(([command, { help }]) => `  ${command.padEnd(13)}${help}`);
    const said = name === '' || name === '--help' || name === '-h' ? '' : `There is no command "eval ${name}".\n\n`;
    host.print(
      `${said}dramatis eval COMMAND: SpeechRole-Eval\n\n${rows.join('\n')}\n\nFor more: dramatis eval COMMAND --help`,
    );
    return said === '' && name !== '' ? 0 : 2;
  }
  try {
    const module = await commands[name as keyof typeof commands].load();
    return await module.run(rest, host);
  } catch (fault) {
    if (!(fault instanceof EvalError || fault instanceof UsageError)) throw fault;
    host.print(`dramatis eval ${name}: ${fault.message}`);
    return fault instanceof UsageError || fault.code === 'eval_usage' ? 2 : 1;
  }
}
