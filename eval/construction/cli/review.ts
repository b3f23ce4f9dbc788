import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { numberFlag, onlyPositional, parseFlags, textFlag, type FlagFacts } from '../../../server/terminal/flags.ts';
import { EvalError } from '../../eval-error.ts';
import { openReviewServer } from '../review/review-server.ts';
import { drawDialogues, withPassages } from '../review/samples.ts';
import type { DataHost } from './host.ts';

const flags = {
  in: { type: 'string', value: 'PATH', help: 'input of the build, to show its passages beside the dialogues' },
  sample: { type: 'string', value: 'N', help: 'dialogues to review (default 50)' },
  seed: { type: 'string', value: 'N', help: 'seed of the sample (default 1)' },
  port: { type: 'string', value: 'N', help: 'port on 127.0.0.1 (default: a free one)' },
} as const satisfies Record<string, FlagFacts>;

/** `dramatis data review DIR [--in PATH]`: serves the page until Ctrl-C. */
export async function run(args: readonly string[], host: DataHost): Promise<number> {
  const about =
    'Serves a page with sampled dialogues beside their passages: accept, reject or edit them, by keyboard too. ' +
    'Decisions are kept in decisions.jsonl of the build; `data export` leaves out rejected dialogues.';
  const parsed = parseFlags({ name: 'data review', synopsis: 'DIR [--in PATH]', about, flags }, args, host.print);
  if (parsed === undefined) return 0;
  const { values } = parsed;
  const folder = onlyPositional(parsed.positionals, 'the folder of a build');
  const count = numberFlag(values.sample, 'sample', { min: 1, max: 5_000, isWhole: true }) ?? 50;
  const seed = numberFlag(values.seed, 'seed', { isWhole: true }) ?? 1;
  const dialogues = await drawDialogues(folder, count, seed);
  if (dialogues.length === 0) throw new EvalError('data', `${folder} has no dialogues.`);
  const samples = await withPassages(dialogues, textFlag(values.in));
  const report: unknown = await readFile(path.join(folder, 'report.json'), 'utf8').then(JSON.parse, () => null);
  await using server = await openReviewServer({
    folder,
    samples,
    report,
    port: numberFlag(values.port, 'port', { min: 0, max: 65_535, isWhole: true }) ?? 0,
  });
  host.print(`${dialogues.length} dialogues to review at ${server.url}\nCtrl-C ends it; decisions are kept.`);
  if (!host.signal.aborted)
    await new Promise((resolve) => host.signal.addEventListener('abort', resolve, { once: true }));
  return 0;
}
