import {
  numberFlag,
  parseFlags,
  requireFlag,
  requireNone,
  textFlag,
  type FlagFacts,
} from '../../../server/terminal/flags.ts';
import { writeMix } from '../exports/mix.ts';
import type { DataHost } from './host.ts';

const flags = {
  rp: {
    type: 'string',
    value: 'FILE,…',
    help: 'role playing: rp.jsonl or rpa.jsonl of the build "novel"; taken whole',
  },
  cserp: { type: 'string', value: 'FILE,…', help: 'alignment tasks: cserp.jsonl; without it the shares are 1 : 9' },
  chat: { type: 'string', value: 'FILE,…', help: 'chit-chat of other sources, JSONL {instruction, output, …}' },
  out: { type: 'string', value: 'FILE', help: 'JSONL to write' },
  seed: { type: 'string', value: 'N', help: 'which chit-chat is drawn, and the order (default 32, as in the paper)' },
} as const satisfies Record<string, FlagFacts>;

/** `dramatis data mix --rp FILE --cserp FILE --chat FILE --out FILE`. */
export async function run(args: readonly string[], host: DataHost): Promise<number> {
  const about =
    'Mixes role playing, alignment tasks and chit-chat 1 : 5 : 4, as Beyond Dialogue trains, English to Chinese as in ' +
    'role playing, in random order.';
  const synopsis = '--rp FILE --cserp FILE --chat FILE --out FILE';
  const parsed = parseFlags({ name: 'data mix', synopsis, about, flags }, args, host.print);
  if (parsed === undefined) return 0;
  const { values, positionals } = parsed;
  requireNone(positionals);
  const filesOf = (text: string | undefined): string[] => (text ?? '').split(',').filter(Boolean);
  const files = {
    rp: filesOf(requireFlag(values.rp, 'rp')),
    cserp: filesOf(textFlag(values.cserp)),
    chat: filesOf(textFlag(values.chat)),
  };
  const seed = numberFlag(values.seed, 'seed', { isWhole: true }) ?? 32;
  const { taken, there, missing } = await writeMix(requireFlag(values.out, 'out'), { files, seed });
  for (const [part, count] of Object.entries(taken)) {
    const lack = missing[part] ?? 0;
    host.print(
      `  ${part.padEnd(10)}${count} of ${there[part]} rows${lack === 0 ? '' : `; ${lack} too few for its share`}`,
    );
  }
  return 0;
}
