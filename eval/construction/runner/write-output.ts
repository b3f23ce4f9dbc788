import path from 'node:path';
import { writeFileAtomic } from '../../../voices/runtime/files.ts';
import { groupsIn, openDraft, readRecords, type DraftFile } from './record-file.ts';
import type { BuildReport } from './build.ts';
import type { DataRecord, OutputRow, Pipeline } from './stage.ts';

/** Files of the records that the last stage has made, and of those that it was given. */
interface LastStage {
  readonly records: string;
  readonly taken: string;
}

/** Writes `report.json`, `README.md`, and the rows of the last stage's records if there is a file of them. */
export async function writeOutput(
  pipeline: Pipeline,
  report: BuildReport,
  last: LastStage | undefined,
  { folder, signal }: { readonly folder: string; readonly signal: AbortSignal },
): Promise<void> {
  const names = last === undefined ? [] : await writeRows(rowsOf(pipeline, last, signal), folder);
  await writeFileAtomic(path.join(folder, 'report.json'), `${JSON.stringify(report, undefined, 2)}\n`);
  if (last !== undefined) await writeFileAtomic(path.join(folder, 'README.md'), readme(pipeline, report, names));
}

async function* rowsOf(
  pipeline: Pipeline,
  { records, taken }: LastStage,
  signal: AbortSignal,
): AsyncGenerator<OutputRow> {
  const stage = pipeline.stages.at(-1);
  let groups: ReturnType<typeof groupsIn> | undefined;
  async function* takenOf(key: string): AsyncGenerator<DataRecord> {
    groups ??= groupsIn(taken, (record) => stage?.groupBy?.(record) ?? record.id);
    yield* (await groups).get(key) ?? [];
  }
  for await (const record of readRecords(records)) {
    signal.throwIfAborted();
    yield* pipeline.rows(record, takenOf);
  }
  if (pipeline.inputRows !== undefined) yield* pipeline.inputRows(signal);
}

async function writeRows(rows: AsyncIterable<OutputRow>, folder: string): Promise<readonly string[]> {
  const drafts = new Map<string, DraftFile>();
  const names = new Set<string>();
  const ends = new Map<string, string>();
  try {
    for await (const { file, value, isItem, member, piece } of rows) {
      const isFirst = !names.has(file);
      names.add(file);
      const place = path.join(folder, file);
      if (piece !== undefined) {
        await writePiece(drafts, place, { file, text: String(value), isLast: piece === 'last' });
        continue;
      }
      if (file.endsWith('.txt')) {
        await writeFileAtomic(place, String(value));
        continue;
      }
      if (file.endsWith('.json') && isItem !== true && member === undefined) {
        await writeFileAtomic(place, `${JSON.stringify(value, undefined, 1)}\n`);
        continue;
      }
      const draft = drafts.get(file) ?? (await openDraft(place));
      drafts.set(file, draft);
      const json = JSON.stringify(value);
      if (file.endsWith('.jsonl')) await draft.write(`${json}\n`);
      else {
        if (isFirst) ends.set(file, member === undefined ? '\n]\n' : '\n}\n');
        const start = member === undefined ? '[' : '{';
        await draft.write(
          `${isFirst ? start : ','}\n${member === undefined ? '' : `${JSON.stringify(member)}: `}${json}`,
        );
      }
    }
    for (const [file, end] of ends) await drafts.get(file)?.write(end);
  } catch (fault) {
    for (const draft of drafts.values()) await draft.abandon();
    throw fault;
  }
  for (const draft of drafts.values()) await draft.finish();
  return [...names].sort();
}

/** A file of pieces is complete, and no longer open, before the rows of the next record. */
async function writePiece(
  drafts: Map<string, DraftFile>,
  place: string,
  { file, text, isLast }: { readonly file: string; readonly text: string; readonly isLast: boolean },
): Promise<void> {
  const draft = drafts.get(file) ?? (await openDraft(place));
  drafts.set(file, draft);
  await draft.write(text);
  if (!isLast) return;
  drafts.delete(file);
  await draft.finish();
}

function readme(pipeline: Pipeline, { rights, stages }: BuildReport, names: readonly string[]): string {
  const rows = stages.map(({ stage, in: taken, out, dropped, failed }) => {
    const reasons = Object.entries(dropped).map(([reason, count]) => `${reason}: ${count}`);
    return `| ${stage} | ${taken} | ${out} | ${[...reasons, ...(failed > 0 ? [`failed: ${failed}`] : [])].join('; ')} |`;
  });
  const models = [...new Set(stages.flatMap((stage) => stage.models))].sort();
  return `# Built by \`dramatis ${pipeline.command ?? `data build ${pipeline.name}`}\`

${pipeline.about}

Rights to the input, as declared: ${rights}
Models that wrote texts: ${models.join(', ') || 'none'}

| stage | in | out | left out |
|---|---|---|---|
${rows.join('\n')}

Files: ${names.map((name) => `\`${name}\``).join(', ')}. Each record's \`provenance\` names its passages, models and prompts (SHA-256).
\`journal.jsonl\` holds every reply; \`report.json\` the counts. \`work/\` holds the records between the stages.
`;
}
