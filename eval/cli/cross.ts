import path from 'node:path';
import { parseFlags, textFlag } from '../../server/terminal/flags.ts';
import { jsonText } from '../../server/terminal/text.ts';
import { uncheckedNote } from '../benchmark.ts';
import { EvalError } from '../eval-error.ts';
import type { EvalHost } from '../host.ts';
import { fewClustersNote } from '../statistics.ts';
import { textBenchmark } from '../text/benchmark.ts';
import { protocolOf } from '../text/summary.ts';
import { crossPage } from '../wikirole/cross/cross-page.ts';
import { crossText } from '../wikirole/cross/cross-text.ts';
import { crossOf, type WikiRoleRun } from '../wikirole/cross/cross.ts';
import { wikiRole } from '../wikirole/task.ts';
import { differencesIn } from './compare.ts';
import { writeResult } from './write-result.ts';

const benchmark = textBenchmark(wikiRole);

/** `dramatis eval cross RUN…`: cross-supervision of WikiRoleEval, computed from logs. */
export async function run(args: readonly string[], host: EvalHost): Promise<number> {
  const flags = {
    ...benchmark.readingFlags,
    language: { type: 'string', value: 'en|zh', help: 'only roles of this language' },
    out: { type: 'string', value: 'FILE', help: 'write a page (HTML) with plots too; - for standard output' },
    anyway: { type: 'boolean', help: 'take runs that were judged differently; the output says so' },
    json: { type: 'boolean', help: 'print JSON' },
  } as const;
  const synopsis = 'RUN… [--language en|zh] [--out FILE] [--anyway] [--json]';
  const parsed = parseFlags<string>({ name: 'eval cross', synopsis, flags }, args, host.print);
  if (parsed === undefined) return 0;
  const { values, positionals } = parsed;
  if (positionals.length < 2) throw new EvalError('usage', 'Give the folders of two runs of WikiRoleEval or more.');
  const language = languageOf(textFlag(values['language']));
  const runs = await Promise.all(positionals.map((folder) => benchmark.read(path.resolve(folder), values)));
  const differs = differencesAmong(runs);
  if (differs.length > 0 && values['anyway'] !== true)
    throw new EvalError(
      'usage',
      `The runs do not fit into one matrix: ${differs.join('; ')}. Add --anyway to use them nevertheless.`,
    );
  const cross = crossOf(runs, language);
  const isUnchecked = runs.some((each) => benchmark.isUnchecked(each));
  const [first] = runs as [WikiRoleRun];
  const judged = `protocol ${protocolOf(wikiRole, first)} · judge ${first.config.judge?.model ?? 'none'}`;
  const roles = new Set(runs.flatMap(({ facts }) => [...facts.values()].map(({ group }) => group))).size;
  const notes = [
    ...(differs.length === 0 ? [] : [`NOT COMPARABLE: ${differs.join('; ')}`]),
    ...(isUnchecked ? [uncheckedNote] : []),
    ...fewClustersNote(roles, 'roles'),
  ];
  if (values['json'] === true) host.print(jsonText({ judged, isJudgeChecked: !isUnchecked, differs, ...cross }, 2));
  else host.print([judged, ...notes, '', crossText(cross)].join('\n'));
  if (values['out'] !== undefined) {
    const text = crossPage(cross, [judged, ...notes].join(' · '));
    await writeResult({ file: 'cross.html', text }, { out: values['out'], folder: '.' }, host);
  }
  return 0;
}

function languageOf(text: string | undefined): 'en' | 'zh' | undefined {
  if (text === undefined || text === 'en' || text === 'zh') return text;
  throw new EvalError('usage', `--language must be en or zh, not "${text}".`);
}

/** Facts in which runs differ from the first one, except profiles, whose effect is measured. */
function differencesAmong(runs: readonly WikiRoleRun[]): string[] {
  const factsOf = (each: WikiRoleRun): Record<string, string> => {
    const { profile: _, ...facts } = benchmark.comparability(each);
    return { ...facts, data: each.record.header.data.hash.slice(0, 8) };
  };
  const [first, ...others] = runs.map((each) => ({ folder: each.folder, facts: factsOf(each) }));
  return others.flatMap(({ folder, facts }) =>
    differencesIn(first?.facts ?? {}, facts).map((what) => `${path.basename(folder)}: ${what}`),
  );
}
