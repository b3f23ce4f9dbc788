import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { onlyPositional, parseFlags, requireFlag, textFlag, type FlagFacts } from '../../../server/terminal/flags.ts';
import { EvalError } from '../../eval-error.ts';
import { jsonRowsOf } from '../../text/data.ts';
import { readers, type ReaderName } from '../exports/readers.ts';
import type { Dialogue } from '../records/dialogue.ts';
import { openDraft } from '../runner/record-file.ts';
import { languageOf } from '../runner/words.ts';
import type { DataHost } from './host.ts';

const names = Object.keys(readers).join(', ');

const flags = {
  from: { type: 'string', value: 'NAME', help: names },
  out: { type: 'string', value: 'DIR', help: 'folder for dialogues.jsonl' },
  rights: { type: 'string', value: 'TEXT', help: 'rights to the rows' },
  role: { type: 'string', value: 'NAME', help: 'role name for rows that have none (default: the name of the file)' },
} as const satisfies Record<string, FlagFacts>;

/** `dramatis data import PATH --from NAME --out DIR`. */
export async function run(args: readonly string[], host: DataHost): Promise<number> {
  const about =
    'Reads rows of other data sets, or of an export, as dialogues: for `data check`, `review`, `speak`, `export` and the builds. ' +
    'Files named test.jsonl, or below test_data, are held out.';
  const parsed = parseFlags(
    { name: 'data import', synopsis: 'PATH --from NAME --out DIR', about, flags },
    args,
    host.print,
  );
  if (parsed === undefined) return 0;
  const { values, positionals } = parsed;
  const place = onlyPositional(positionals, 'a file, or a folder of files');
  const from = requireFlag(values.from, 'from');
  if (!Object.hasOwn(readers, from)) throw new EvalError('usage', `--from must be one of: ${names}.`);
  const rights = requireFlag(values.rights, 'rights');
  const draft = await openDraft(path.join(requireFlag(values.out, 'out'), 'dialogues.jsonl'));
  let [count, others] = [0, 0];
  try {
    for (const file of await filesAt(place)) {
      const name = path.relative(path.dirname(place), file).replaceAll(path.sep, '/');
      const role = textFlag(values.role) ?? path.parse(file).name;
      const split = /(?:^|\/)test_data\/|test\.jsonl?$/.test(name)
        ? 'test'
        : /dev_data\/|val\.jsonl?$/.test(name)
          ? 'dev'
          : 'train';
      let number = 0;
      for await (const { value } of jsonRowsOf(file, (where) => host.note(`cannot be read: ${where}`))) {
        number += 1;
        const read = readers[from as ReaderName](value, role);
        if (read === undefined) {
          others += 1;
          continue;
        }
        const dialogue: Dialogue = {
          id: `${name}/${number}`,
          language: languageOf(read.turns.map(({ text }) => text).join(' ')),
          source: path.basename(place),
          rights,
          ...(read.scene === undefined ? {} : { scene: read.scene }),
          ...(read.system === undefined ? {} : { system: read.system }),
          turns: [...read.turns],
          labels: { split, key: read.role ?? role, ...read.labels },
        };
        await draft.write(`${JSON.stringify(dialogue)}\n`);
        count += 1;
      }
    }
    if (count === 0) throw new EvalError('data', `${place} contains no row in the format ${from}.`);
  } catch (fault) {
    await draft.abandon();
    throw fault;
  }
  await draft.finish();
  host.print(`  ${count} dialogues${others === 0 ? '' : `; ${others} rows in another format were left out`}`);
  return 0;
}

async function filesAt(place: string): Promise<readonly string[]> {
  const found = await stat(place).catch((cause: unknown) => {
    throw new EvalError('data', `${place} cannot be read.`, cause);
  });
  if (!found.isDirectory()) return [place];
  const files = (await readdir(place, { recursive: true })).filter((name) => /\.jsonl?$/.test(name)).sort();
  if (files.length === 0) throw new EvalError('data', `${place} contains no .json or .jsonl file.`);
  return files.map((name) => path.join(place, name));
}
