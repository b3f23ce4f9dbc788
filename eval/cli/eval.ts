import { EvalError } from '../eval-error.ts';
import type { EvalHost } from '../host.ts';

/** One module per command, with its usage line. Each exports `run(args, host)`, which resolves to the exit status. */
const commands = {
  run: { help: 'replay dialogues through a system, have them judged', load: () => import('./run.ts') },
  resume: { help: 'go on with a run that was stopped or killed', load: () => import('./resume.ts') },
  rescore: { help: 'work out scores again from the log; calls nobody', load: () => import('./rescore.ts') },
  compare: { help: 'two runs, dialogue by dialogue', load: () => import('./compare.ts') },
  report: { help: 'write the report of a run: one HTML file', load: () => import('./report.ts') },
  export: { help: 'CSV, JSON, LaTeX, or result files in SpeechRole’s shape', load: () => import('./export.ts') },
  score: { help: 'score SpeechRole result files, v1 or v2', load: () => import('./score.ts') },
  data: { help: 'check DIR: what is there of the 392 dialogues', load: () => import('./data.ts') },
  leaderboard: { help: 'the paper’s tables, and your runs beside them', load: () => import('./leaderboard.ts') },
  agreement: { help: 'how well a judge agrees with people (appendix B)', load: () => import('./agreement.ts') },
  'judge-check': { help: 'test a judge before you trust it', load: () => import('./judge-check.ts') },
} as const;

/** Runs `dramatis eval COMMAND …`. Resolves to the exit status; 2 for an invalid command line. */
export async function runEval(args: readonly string[], host: EvalHost): Promise<number> {
  const [name = '', ...rest] = args;
  if (!Object.hasOwn(commands, name)) {
    const rows = Object.entries(commands).map(([command, { help }]) => `  ${command.padEnd(13)}${help}`);
    const said = name === '' || name === '--help' || name === '-h' ? '' : `There is no "eval ${name}".\n\n`;
    host.print(`${said}dramatis eval COMMAND: SpeechRole-Eval\n\n${rows.join('\n')}\n\nEach has --help.`);
    return said === '' && name !== '' ? 0 : 2;
  }
  try {
    const module = await commands[name as keyof typeof commands].load();
    return await module.run(rest, host);
  } catch (fault) {
    if (!(fault instanceof EvalError)) throw fault;
    host.print(`dramatis eval ${name}: ${fault.message}`);
    return fault.code === 'eval_usage' ? 2 : 1;
  }
}
