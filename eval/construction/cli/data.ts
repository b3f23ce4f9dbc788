import { UsageError } from '../../../server/terminal/flags.ts';
import { printable } from '../../../server/terminal/text.ts';
import { EvalError } from '../../eval-error.ts';
import type { DataHost } from './host.ts';

/** One module per command, with its usage line. Each exports `run(args, host)`, which resolves to the exit status. */
const commands = {
  build: { help: 'NAME --in … --out DIR: build a data set from books', load: () => import('./build.ts') },
  speak: {
    help: 'DIR --out DIR: synthesize and measure both sides of the dialogues',
    load: () => import('./speak.ts'),
  },
  voices: {
    help: 'RECORDING… --cast FILE --out DIR: find a voice clip for each role',
    load: () => import('./voices.ts'),
  },
  review: { help: 'DIR [--in PATH]: a page to accept, reject and edit dialogues', load: () => import('./review.ts') },
  collect: {
    help: '--out FILE --contact WHO: characters from Wikidata and Wikipedia',
    load: () => import('./collect.ts'),
  },
  export: {
    help: 'DIR --format NAME: write dialogues for a trainer or a benchmark',
    load: () => import('./export.ts'),
  },
  import: {
    help: 'PATH --from NAME --out DIR: read other data sets as dialogues',
    load: () => import('./import.ts'),
  },
  mix: {
    help: '--rp FILE --cserp FILE --chat FILE --out FILE: mix training rows',
    load: () => import('./mix.ts'),
  },
  check: { help: 'DIR [--against DIR]: schema, and leaks between train and test', load: () => import('./check.ts') },
} as const;

/** Runs `dramatis data COMMAND …`. Resolves to the exit status; 2 for an invalid command line. */
export async function runData(args: readonly string[], terminal: DataHost): Promise<number> {
  const host: DataHost = { ...terminal, print: (text) => terminal.print(printable(text)) };
  const [name = '', ...rest] = args;
  if (!Object.hasOwn(commands, name)) {
    const rows = Object.entries(commands).map(([command, { help }]) => `  ${command.padEnd(8)}${help}`);
    const said = name === '' || name === '--help' || name === '-h' ? '' : `There is no command "data ${name}".\n\n`;
    host.print(
      `${said}dramatis data COMMAND: data sets from books\n\n${rows.join('\n')}\n\nFor more: dramatis data COMMAND --help`,
    );
    return said === '' && name !== '' ? 0 : 2;
  }
  try {
    const module = await commands[name as keyof typeof commands].load();
    return await module.run(rest, host);
  } catch (fault) {
    if (!(fault instanceof EvalError || fault instanceof UsageError)) throw fault;
    host.print(`dramatis data ${name}: ${fault.message}`);
    return fault instanceof UsageError || fault.code === 'eval_usage' ? 2 : 1;
  }
}
