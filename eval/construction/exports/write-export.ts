import path from 'node:path';
import { writeFileAtomic } from '../../../voices/runtime/files.ts';
import { reviewedDialoguesIn } from '../records/decisions.ts';
import type { Dialogue } from '../records/dialogue.ts';
import { openDraft, type DraftFile } from '../runner/record-file.ts';
import type { OutputRow } from '../runner/stage.ts';
import { conversationsOf } from './conversation.ts';
import { formats, wholeFormats, type ExportOptions } from './formats.ts';
import { datasetInfo, trainScript } from './hand-off.ts';

/** Forms in which dialogues can be written. */
export const exportNames = [...Object.keys(formats), ...Object.keys(wholeFormats)] as readonly ExportName[];
export type ExportName = keyof typeof formats | keyof typeof wholeFormats;

/** Number of rows of each file that was written. */
export type Written = ReadonlyMap<string, number>;

/** An export: its format, and what it holds. */
export interface ExportWanted extends ExportOptions {
  readonly format: ExportName;
  readonly role?: string | undefined;
  /** Paths of recordings: `relative` to the folder of the export, in which `train.sh` starts. */
  readonly paths: 'relative' | 'absolute';
  /** Only what people have accepted or edited; what they have rejected is left out in any case. */
  readonly isAccepted?: boolean;
}

/**
 * Writes the dialogues of a build in another form, as a stream: files ending in `.jsonl` get a line a row, `.json` a
 * list. Files for a trainer are beside them. Throws an `EvalError` that names the first row that is not a dialogue.
 */
export async function writeExport(input: string, out: string, options: ExportWanted): Promise<Written> {
  const base = input.endsWith('.jsonl') ? path.dirname(input) : input;
  const placed = (audio: string): string => {
    const whole = path.resolve(base, audio);
    return options.paths === 'absolute' ? whole : path.relative(out, whole).replaceAll(path.sep, '/');
  };
  const drafts = new Map<string, DraftFile>();
  const counts = new Map<string, number>();
  let index = 0;
  try {
    for await (const dialogue of reviewedDialoguesIn(input, options)) {
      for (const { file, value } of rowsOf(withPaths(dialogue, placed), index, options)) {
        const draft = drafts.get(file) ?? (await openDraft(path.join(out, file)));
        drafts.set(file, draft);
        const before = counts.get(file) ?? 0;
        counts.set(file, before + 1);
        const json = JSON.stringify(value);
        await draft.write(file.endsWith('.jsonl') ? `${json}\n` : `${before === 0 ? '[' : ','}\n${json}`);
      }
      index += 1;
    }
    for (const [file, draft] of drafts) if (!file.endsWith('.jsonl')) await draft.write('\n]\n');
  } catch (fault) {
    for (const draft of drafts.values()) await draft.abandon();
    throw fault;
  }
  for (const draft of drafts.values()) await draft.finish();
  await writeHandOff(out, counts, options);
  return counts;
}

function rowsOf(dialogue: Dialogue, index: number, options: ExportWanted): readonly OutputRow[] {
  const { format, role } = options;
  if (format === 'coser' || format === 'beyond-dialogue') {
    const isWanted = role === undefined || dialogue.turns.some(({ speaker }) => speaker === role);
    return isWanted ? wholeFormats[format](dialogue, index) : [];
  }
  return conversationsOf(dialogue, role).flatMap((conversation) => formats[format](conversation, options));
}

/** A dialogue with other paths of its recordings. */
function withPaths(dialogue: Dialogue, placed: (audio: string) => string): Dialogue {
  return {
    ...dialogue,
    turns: dialogue.turns.map((turn) => ({
      ...turn,
      ...(turn.audio === undefined ? {} : { audio: placed(turn.audio) }),
      ...(turn.moreAudio === undefined ? {} : { moreAudio: turn.moreAudio.map(placed) }),
    })),
  };
}

async function writeHandOff(out: string, counts: Written, { format, tags }: ExportWanted): Promise<void> {
  if (format === 'ms-swift')
    await writeFileAtomic(path.join(out, 'train.sh'), trainScript({ hasDev: counts.has('val.jsonl') }));
  if (format === 'sharegpt' || format === 'alpaca')
    await writeFileAtomic(
      path.join(out, 'dataset_info.json'),
      `${JSON.stringify(datasetInfo(format, [...counts.keys()], tags), undefined, 2)}\n`,
    );
}
